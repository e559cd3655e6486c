// Webhooks as one more work of the suite: deliveries a second from the commit of their events to the receiver's last 200, in turn.
// The bare loop, a sender by hand and this service's worker, each on a database of its own, and the service on its embedded one. bench/webhooks.ts measures more of the worker.

import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { EVENTS_CHANNEL } from '../server/src/webhooks/spread.ts';
import type { Arena } from './arena.ts';
import { migrate } from './doors.ts';
import type { Options } from './options.ts';
import { costOf, readProcesses } from './process-costs.ts';
import type { Round } from './race.ts';
import { summarizeWork, type WorkResult } from './results.ts';
import { type Books, openBooks } from './webhooks/books.ts';
import { runEmbedded } from './webhooks/embedded.ts';
import { untilAnswered, untilRecorded, urlsOf } from './webhooks/measures.ts';
import { forkScript, killAll, type Receiver, runBare, startReceiver, startWorker, type Worker } from './webhooks/processes.ts';
import { titles } from './works.ts';

const CONCURRENCY = 64;
const ENDPOINTS = 10;
const WARM_EVENTS = 100;

type StartOn = (books: Books) => Promise<Worker>;

async function startByHand(books: Books): Promise<Worker> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { child } = await forkScript(fileURLToPath(new URL('by-hand/sender.ts', import.meta.url)), {
    ...books.environment,
    WORKSPACE_ID: books.workspaceId,
    CHANNEL: EVENTS_CHANNEL,
    SECRET: secret,
    CONCURRENCY: String(CONCURRENCY),
  });
  return { pid: child.pid as number, stop: async () => void child.kill() };
}

const startTranche: StartOn = (books) => startWorker({ ...books.environment, WEBHOOK_CONCURRENCY: String(CONCURRENCY) });

async function playSender(arena: Arena, receiver: Receiver, startOn: StartOn, deliveries: number): Promise<Round> {
  const url = await arena.makeDatabase('bench_webhooks');
  await migrate(url);
  const books = await openBooks(url);
  let worker: Worker | null = null;
  try {
    await books.addEndpoints(urlsOf(receiver, ENDPOINTS, 0), CONCURRENCY);
    worker = await startOn(books);
    await receiver.ask('reset');
    await books.commit(WARM_EVENTS);
    await untilAnswered(receiver, WARM_EVENTS * ENDPOINTS);
    await untilRecorded(books);
    await receiver.ask('reset');
    const { pid } = worker;
    const databasePid = arena.cluster.pid;
    const look = () => {
      const processes = readProcesses();
      return { service: costOf(pid, processes), database: databasePid === null ? null : costOf(databasePid, processes).cpuSeconds };
    };
    const before = look();
    const { committedAt } = await books.commit(Math.round(deliveries / ENDPOINTS));
    const seen = await untilAnswered(receiver, deliveries);
    await untilRecorded(books);
    const after = look();
    return {
      ...rateOf(deliveries, seen.lastAt - committedAt),
      serviceCpuSeconds: after.service.cpuSeconds - before.service.cpuSeconds,
      databaseCpuSeconds: after.database === null || before.database === null ? null : after.database - before.database,
      rssBytes: after.service.rssBytes,
    };
  } finally {
    await worker?.stop();
    await books.close();
  }
}

/** In a burst a delivery waits for those before it: how long says nothing that the rate does not. */
const rateOf = (deliveries: number, ms: number) => ({
  answers: deliveries,
  perSecond: (deliveries / ms) * 1000,
  p50Ms: Number.NaN,
  p99Ms: Number.NaN,
  faults: 0,
});

async function playEmbedded(receiver: Receiver, deliveries: number): Promise<Round> {
  const order = { urls: urlsOf(receiver, ENDPOINTS, 0), deliveries, concurrency: CONCURRENCY };
  const { ms, cost } = await runEmbedded(receiver, order);
  return { ...rateOf(deliveries, ms), serviceCpuSeconds: cost.cpuSeconds, databaseCpuSeconds: 0, rssBytes: cost.rssBytes };
}

async function playBare(receiver: Receiver, deliveries: number): Promise<Round> {
  const order = { urls: urlsOf(receiver, ENDPOINTS, 0), requests: deliveries, concurrency: CONCURRENCY };
  const { perSecond, cost } = await runBare(order);
  const shape = rateOf(deliveries, (deliveries / perSecond) * 1000);
  return { ...shape, serviceCpuSeconds: cost.cpuSeconds, databaseCpuSeconds: 0, rssBytes: cost.rssBytes };
}

export async function playWebhooks(arena: Arena, options: Options, say: (line: string) => void): Promise<WorkResult> {
  const deliveries = options.seconds * 4_000;
  arena.onEnd(killAll);
  const receiver = await startReceiver();
  const players = {
    bare: () => playBare(receiver, deliveries),
    'by hand': () => playSender(arena, receiver, startByHand, deliveries),
    tranche: () => playSender(arena, receiver, startTranche, deliveries),
    embedded: () => playEmbedded(receiver, deliveries),
  };
  const wanted = Object.entries(players).filter(([name]) => (options.servers as readonly string[]).includes(name));
  const rounds = new Map<string, Round[]>(wanted.map(([name]) => [name, []]));
  say(
    `${titles.webhooks}: ${options.rounds} rounds of ${deliveries.toLocaleString('en-US')} to ${ENDPOINTS} endpoints that answer at once`,
  );
  for (let number = 1; number <= options.rounds; number++) {
    const figures: string[] = [];
    for (const [name, playRound] of wanted) {
      const round = await playRound();
      rounds.get(name)?.push(round);
      figures.push(`${name} ${Math.round(round.perSecond).toLocaleString('en-US')}/s`);
    }
    say(`  round ${number} of ${options.rounds}: ${figures.join(', ')}`);
  }
  receiver.stop();
  return summarizeWork({ work: 'webhooks', title: titles.webhooks, rounds });
}
