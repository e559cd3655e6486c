// Metrics of the process itself: how late its event loop was, its memory, its time on processors.
// Asks Node and the system; knows nothing of the service.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Family, gauge } from './instruments.ts';

export type Lag = ReturnType<typeof monitorEventLoopDelay>;

const LAG_RESOLUTION_MS = 20;
const NS_PER_S = 1e9;

export function startLag(): Lag {
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  return lag;
}

export function processFamilies(lag: Lag | null): Family[] {
  const memory = process.memoryUsage();
  // What is measured is the time between two ticks of a timer; its own pause is no delay.
  const late = (read: (lag: Lag) => number): number =>
    lag === null || lag.count === 0 ? 0 : Math.max(0, read(lag) / NS_PER_S - LAG_RESOLUTION_MS / 1000);
  const lagHelp = 'How late the event loop was, since metrics were last read:';
  return [
    gauge(
      'nodejs_eventloop_lag_p50_seconds',
      `${lagHelp} the median.`,
      late((seen) => seen.percentile(50)),
    ),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      `${lagHelp} the 99th percentile.`,
      late((seen) => seen.percentile(99)),
    ),
    gauge(
      'nodejs_eventloop_lag_max_seconds',
      `${lagHelp} the longest.`,
      late((seen) => seen.max),
    ),
    gauge('nodejs_heap_size_used_bytes', 'Of the JavaScript heap, in use.', memory.heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Of the JavaScript heap, reserved.', memory.heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers and of the embedded database, outside the JavaScript heap.', memory.external),
    ...systemFamilies(memory.rss),
  ];
}

/** What the system knows of this process. */
export function systemFamilies(rss = process.memoryUsage.rss()): Family[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
    {
      name: 'process_cpu_seconds_total',
      help: 'Time on processors, of the program and of the system for it.',
      type: 'counter',
      samples: [{ value: (user + system) / 1e6 }],
    },
    gauge('process_start_time_seconds', 'When the process began, as seconds since 1970.', performance.timeOrigin / 1000),
  ];
}
