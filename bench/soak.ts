// Whether memory stays flat: `node bench/soak.ts [--minutes 20] [--warm-up-minutes 5] [--share 0.5]`. Reads by id and, every fifth request, the
// creation of a project, open loop at a share of what the service brings through. Prints the memory of each minute and the slope after the
// warm-up; ends with 1 where it is 1 MB a minute or more. Run by hand: nothing here is short.

import { setInterval as every } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fireOpen, type OpenShot } from './open-loop.ts';
import { costOf, readProcesses } from './process-costs.ts';
import { openSubject, saturation } from './subject.ts';

const MOST_MB_A_MINUTE = 1;
const SAMPLE_MS = 5_000;
const WRITE_EVERY = 5;
const CONNECTIONS = 64;
/** More than this mix comes near to, per second. */
const BEYOND_PER_SECOND = 60_000;
const SATURATION_SECONDS = 8;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    'warm-up-minutes': { type: 'string', default: '5' },
    share: { type: 'string', default: '0.5' },
  },
});
const minutes = Number(flags.minutes);
const warmUpMinutes = Number(flags['warm-up-minutes']);

interface Sample {
  readonly minute: number;
  readonly megabytes: number;
}

/** Of the straight line that fits best, in MB a minute. */
function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean(({ minute }) => minute), mean(({ megabytes }) => megabytes)];
  const spread = samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  return samples.reduce((sum, { minute, megabytes }) => sum + (minute - x) * (megabytes - y), 0) / spread;
}

async function watch(pid: number, samples: Sample[], signal: AbortSignal): Promise<void> {
  const begunAtMs = performance.now();
  let told = 0;
  try {
    for await (const _ of every(SAMPLE_MS, null, { signal })) {
      const minute = (performance.now() - begunAtMs) / 60_000;
      samples.push({ minute, megabytes: costOf(pid, readProcesses()).rssBytes / 1e6 });
      if (minute < told + 1) continue;
      told = Math.floor(minute);
      console.log(`minute ${String(told).padStart(3)}: ${samples.at(-1)?.megabytes.toFixed(1)} MB`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const subject = await openSubject();
const over = new AbortController();
try {
  const { server, reads, creations } = subject;
  const shots = reads.map(
    (read, i): OpenShot => (i % WRITE_EVERY === 0 ? (creations[(i / WRITE_EVERY) % creations.length] as OpenShot) : read),
  );
  const base = { port: server.port, shots, once: false, connections: CONNECTIONS };
  const most = await saturation({ ...base, seconds: SATURATION_SECONDS }, BEYOND_PER_SECOND);
  const perSecond = Math.round(most * Number(flags.share));
  console.log(`At most ${Math.round(most)} a second; soaking for ${minutes} minutes at ${perSecond}.`);
  const samples: Sample[] = [];
  const watching = watch(server.pid, samples, over.signal);
  const measure = await fireOpen({ ...base, perSecond, seconds: minutes * 60, warmUpSeconds: 0 });
  over.abort();
  await watching;
  const settled = samples.filter(({ minute }) => minute >= warmUpMinutes);
  const slope = slopeOf(settled);
  const { succeeded, intended, successMs, refused, unsent, broken, timedOut, otherStatuses } = measure;
  console.log(`${succeeded} of ${intended} succeeded; p50 ${successMs.p50Ms.toFixed(2)} ms, p99 ${successMs.p99Ms.toFixed(2)} ms`);
  if (succeeded < intended) console.log('The others:', { refused, unsent, broken, timedOut, ...otherStatuses });
  console.log(
    `Slope of memory after ${warmUpMinutes} minutes: ${slope.toFixed(2)} MB a minute over ${settled.length} samples, ` +
      `${Math.min(...settled.map(({ megabytes }) => megabytes)).toFixed(1)} to ${Math.max(...settled.map(({ megabytes }) => megabytes)).toFixed(1)} MB`,
  );
  if (!(slope < MOST_MB_A_MINUTE)) process.exitCode = 1;
} finally {
  over.abort();
  await subject.stop();
}
