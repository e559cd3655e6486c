// What the webhook benchmark measures, each on books of its own: throughput, idle latency, hung receivers and backlogs.
// Returns figures; judges and prints nothing.

import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { type Books, openBooks } from './books.ts';
import { type Receiver, runBare, startWorker, type Worker } from './processes.ts';
import type { Seen } from './receiver.ts';

const POLL_MS = 100;
const WARM_EVENTS = 200;
/** A run that has not come to its end by then is broken. */
const RUN_LIMIT_MS = 600_000;

export interface Bench {
  readonly receiver: Receiver;
  /** Attempts under way at once: the worker's WEBHOOK_CONCURRENCY. */
  readonly concurrency: number;
  /** A fresh, migrated database; dropped by `drop`. */
  makeDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }>;
}

export type MakeDatabase = Bench['makeDatabase'];
export type { Cluster };

async function withBooks<T>(bench: Bench, work: (books: Books, startOn: () => Promise<Worker>) => Promise<T>): Promise<T> {
  const database = await bench.makeDatabase();
  const books = await openBooks(database.url);
  let worker: Worker | null = null;
  try {
    return await work(books, async () => {
      worker = await startWorker({ ...books.environment, WEBHOOK_CONCURRENCY: String(bench.concurrency) });
      return worker;
    });
  } finally {
    await (worker as Worker | null)?.stop();
    await books.close();
    await database.drop();
  }
}

export async function untilAnswered(receiver: Receiver, count: number, limitMs = RUN_LIMIT_MS): Promise<Seen> {
  const until = performance.now() + limitMs;
  for (;;) {
    const seen = await receiver.ask('report');
    if (seen.answered >= count) return seen;
    if (performance.now() > until) throw new Error(`Only ${seen.answered} of ${count} webhooks arrived in ${limitMs} ms.`);
    await pause(POLL_MS);
  }
}

/** Every delivery that was made ended with one attempt, or the figure does not count. */
export async function untilRecorded(books: Books): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await books.countUnfinished()) === 0) return;
    await pause(POLL_MS);
  }
  throw new Error('Some webhooks arrived more than once, or their results were not written.');
}

export const urlsOf = (receiver: Receiver, endpoints: number, delayMs: number): string[] =>
  Array.from({ length: endpoints }, (_, i) => `${receiver.origin}/after/${delayMs}/e${i}`);

export interface Throughput {
  readonly bare: number;
  readonly tranche: number;
}

/** Deliveries a second from the commit of their events to the receiver's last 200, and those of the bare loop. */
export async function measureThroughput(
  bench: Bench,
  { endpoints, delayMs, deliveries }: { endpoints: number; delayMs: number; deliveries: number },
): Promise<Throughput> {
  const { receiver, concurrency } = bench;
  const addresses = urlsOf(receiver, endpoints, delayMs);
  const { perSecond: bare } = await runBare({ urls: addresses, requests: deliveries, concurrency });
  const tranche = await withBooks(bench, async (books, startOn) => {
    await books.addEndpoints(addresses, concurrency);
    await startOn();
    await receiver.ask('reset');
    const warm = Math.max(1, Math.round(WARM_EVENTS / endpoints)) * 5;
    await books.commit(warm);
    await untilAnswered(receiver, warm * endpoints);
    await untilRecorded(books);
    await receiver.ask('reset');
    const events = Math.round(deliveries / endpoints);
    const { committedAt } = await books.commit(events);
    const seen = await untilAnswered(receiver, events * endpoints);
    await untilRecorded(books);
    return ((events * endpoints) / (seen.lastAt - committedAt)) * 1000;
  });
  return { bare, tranche };
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
}

function percentiles(valuesMs: readonly number[]): Latency {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}

/** Milliseconds from the commit of an event to its first byte at the receiver, one event at a time, with nothing else to do. */
export function measureIdle(bench: Bench, events: number): Promise<Latency> {
  return withBooks(bench, async (books, startOn) => {
    await books.addEndpoints(urlsOf(bench.receiver, 1, 0), 16);
    await startOn();
    await books.commit(20);
    await bench.receiver.ask('reset');
    await pause(500);
    const committed = new Map<string, number>();
    for (let i = 0; i < events; i += 1) {
      const { firstSeq, committedAt } = await books.commit(1);
      committed.set(`e0/${firstSeq}`, committedAt);
      // Not in step with anything: from nearly at once to after the results were written and all is at rest.
      await pause(30 + (i % 7) * 20);
    }
    const seen = await untilAnswered(bench.receiver, events);
    return percentiles(seen.arrivals.flatMap(([name, at]) => (committed.has(name) ? [at - (committed.get(name) as number)] : [])));
  });
}

const HEALTHY = 10;
const EVENT_EVERY_MS = 25;

/** The same for ten healthy endpoints under a steady load of 400 deliveries a second, while so many others hang on every attempt. */
export function measureBesideHung(bench: Bench, hung: number, seconds: number): Promise<Latency> {
  return withBooks(bench, async (books, startOn) => {
    const healthy = urlsOf(bench.receiver, HEALTHY, 10);
    const hanging = Array.from({ length: hung }, (_, i) => `${bench.receiver.origin}/hang/0/h${i}`);
    await books.addEndpoints([...healthy, ...hanging], 16);
    await startOn();
    await books.commit(1);
    await pause(1_000);
    await bench.receiver.ask('reset');
    const committed = new Map<number, number>();
    const endsAt = performance.now() + seconds * 1000;
    while (performance.now() < endsAt) {
      const begunAt = performance.now();
      const { firstSeq, committedAt } = await books.commit(1);
      committed.set(firstSeq, committedAt);
      await pause(Math.max(0, EVENT_EVERY_MS - (performance.now() - begunAt)));
    }
    const seen = await untilAnswered(bench.receiver, committed.size * HEALTHY, 60_000);
    return percentiles(
      seen.arrivals.flatMap(([name, at]) => {
        const committedAt = committed.get(Number(name.split('/')[1]));
        return committedAt === undefined ? [] : [at - committedAt];
      }),
    );
  });
}

const BACKLOG_ENDPOINTS = 10;
const WARM_DELIVERIES = 1_000;

export interface Drain {
  readonly perSecond: number;
  readonly delivered: number;
}

/** Deliveries a second out of a backlog that is due already, until it is empty or the time is over. */
export function measureDrain(bench: Bench, backlog: number, seconds: number): Promise<Drain> {
  return withBooks(bench, async (books, startOn) => {
    const endpoints = await books.addEndpoints(urlsOf(bench.receiver, BACKLOG_ENDPOINTS, 10), bench.concurrency);
    await books.addBacklog(endpoints, Math.round(backlog / BACKLOG_ENDPOINTS));
    await bench.receiver.ask('reset');
    await startOn();
    let seen = await untilAnswered(bench.receiver, WARM_DELIVERIES);
    const endsAt = performance.now() + seconds * 1000;
    while (seen.answered < backlog && performance.now() < endsAt) {
      await pause(POLL_MS);
      seen = await bench.receiver.ask('report');
    }
    const [warm, last] = [seen.milestones.find(([answered]) => answered >= WARM_DELIVERIES), seen.milestones.at(-1)];
    if (warm === undefined || last === undefined || last[0] <= warm[0]) throw new Error('Too little arrived to say anything.');
    return { perSecond: ((last[0] - warm[0]) / (last[1] - warm[1])) * 1000, delivered: last[0] };
  });
}
