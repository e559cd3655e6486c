// Sees to it that a worker which stops working is noticed: a line in the log each minute, and a reason for the health checks.
// Restarts nothing: a supervisor does, told by `/healthz` or by the end of the process.

import type { Log } from '../store/log.ts';
import type { WorkerStatus } from '../webhooks/worker.ts';

/** The worker looks for work every second; silence for this long means that nobody delivers. */
export const MAX_WORKER_SILENCE_MS = 60_000;
/** After this long a process that does nothing else ends, so that its supervisor starts another. */
export const MAX_WORKER_HANG_MS = 300_000;
const LOOK_EVERY_MS = 5_000;
const WARN_EVERY_MS = 60_000;

export interface WatchdogOptions {
  readonly status: () => WorkerStatus;
  /** Milliseconds that only ever grow, as in the status: no clock that is set or differs from another's looks like silence. */
  readonly uptimeMs: () => number;
  readonly log: Log;
  /** Called once, when the worker hangs: for long no pass has ended, not even with an error. */
  readonly onHang?: (() => void) | undefined;
  readonly lookEveryMs?: number;
}

export interface Watchdog {
  start(): void;
  stop(): void;
  /** Looks once; `start` has it done again and again. */
  look(): void;
  /** Why webhooks are not being sent; null when they are. Until the worker has looked for work once, they are not. */
  unready(): string | null;
  /** The same once it has lasted for a minute, so that a restart is due. */
  silence(): string | null;
}

export function createWatchdog({ status, uptimeMs, log, onHang, lookEveryMs = LOOK_EVERY_MS }: WatchdogOptions): Watchdog {
  let timer: NodeJS.Timeout | null = null;
  let startedAtMs: number | null = null;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let hasHung = false;

  /** Since a moment, or since the start where it has not come yet. */
  function sinceMs(momentMs: number | null): number {
    const fromMs = momentMs ?? startedAtMs;
    return fromMs === null ? 0 : uptimeMs() - fromMs;
  }

  const silenceMs = (): number => sinceMs(status().lastRunMs);

  function silence(): string | null {
    if (silenceMs() <= MAX_WORKER_SILENCE_MS) return null;
    return `webhooks are not being sent (${status().lastError ?? 'the worker does not answer'})`;
  }

  function unready(): string | null {
    if (status().lastRunMs !== null) return silence();
    return `webhooks are not being sent (${status().lastError ?? 'the worker has not begun'})`;
  }

  function look(): void {
    const reason = silence();
    const time = uptimeMs();
    if (reason !== null && time - warnedAtMs >= WARN_EVERY_MS) {
      warnedAtMs = time;
      log.error({ silentForMs: silenceMs() }, reason);
    }
    // One that fails goes on by itself as soon as the cause is gone, as with a database that is away. One that stands still does not.
    if (onHang === undefined || hasHung || sinceMs(status().lastPassMs) <= MAX_WORKER_HANG_MS) return;
    hasHung = true;
    onHang();
  }

  return {
    start() {
      startedAtMs = uptimeMs();
      timer = setInterval(look, lookEveryMs);
      timer.unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
    look,
    unready,
    silence,
  };
}
