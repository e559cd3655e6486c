// Webhooks of the service on its embedded database: nobody but the server can write there, so the events come through the API.
// One round: a fresh directory, endpoints, and projects whose milestones are the events. Returns figures; judges nothing.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cost, costOf, readProcesses } from '../process-costs.ts';
import { startServer, trancheEnvironment } from '../servers.ts';
import { untilAnswered } from './measures.ts';
import type { Receiver } from './processes.ts';

/** As many as a creation takes: each is one event. */
const MILESTONES = 100;
const SETTLE_MS = 500;

interface Order {
  readonly urls: readonly string[];
  readonly deliveries: number;
  readonly concurrency: number;
}

async function post(port: number, key: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`embedded: POST ${path} answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

const project = {
  name: 'New website',
  client_id: 'client_42',
  milestones: Array.from({ length: MILESTONES }, (_, i) => ({ title: `Part ${i}`, amount: 150_000 })),
};

/** From the first creation that is sent to the receiver's last 200. */
export async function runEmbedded(receiver: Receiver, { urls, deliveries, concurrency }: Order): Promise<{ ms: number; cost: Cost }> {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-bench-embedded-'));
  const environment: Record<string, string> = { ...trancheEnvironment(), WEBHOOK_CONCURRENCY: String(concurrency) };
  const server = await startServer('embedded', { ...environment, DATA_DIR: directory });
  const create = (): Promise<void> => post(server.port, environment.TRANCHE_API_KEY as string, '/v1/projects', project);
  try {
    for (const url of urls) {
      const endpoint = { url, event_types: ['milestone.created'], max_concurrency: concurrency };
      await post(server.port, environment.TRANCHE_API_KEY as string, '/v1/webhook_endpoints', endpoint);
    }
    await receiver.ask('reset');
    await create();
    await untilAnswered(receiver, MILESTONES * urls.length);
    await pause(SETTLE_MS);
    await receiver.ask('reset');
    const before = costOf(server.pid, readProcesses());
    const begunAt = performance.timeOrigin + performance.now();
    for (let events = 0; events * urls.length < deliveries; events += MILESTONES) await create();
    const { lastAt } = await untilAnswered(receiver, deliveries);
    await pause(SETTLE_MS);
    const { answered } = await receiver.ask('report');
    if (answered !== deliveries) throw new Error(`Of ${deliveries} deliveries ${answered} arrived.`);
    const after = costOf(server.pid, readProcesses());
    return { ms: lastAt - begunAt, cost: { cpuSeconds: after.cpuSeconds - before.cpuSeconds, rssBytes: after.rssBytes } };
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
