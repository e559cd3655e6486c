// What the service is measured against, a process of its own: a loop around undici that POSTs the same signed bodies with the same
// concurrency to the same receiver. No database, no queue, no retries, no record; the signatures are made beforehand.

import { Pool } from 'undici';
import { makeSigningSecret, readSigningSecret, signatureHeader } from '../../server/src/webhooks/sign.ts';
import { eventBody } from './body.ts';

export interface ToBare {
  readonly urls: readonly string[];
  readonly requests: number;
  readonly concurrency: number;
}

interface Prepared {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function prepare({ urls, requests }: ToBare): Prepared[] {
  const secrets = [readSigningSecret(makeSigningSecret((bytes) => void crypto.getRandomValues(bytes)))];
  const timestampSeconds = Math.floor(Date.now() / 1000);
  return Array.from({ length: requests }, (_, i) => {
    const body = eventBody(i + 1);
    const id = `evt_${i}`;
    return {
      path: new URL(urls[i % urls.length] as string).pathname,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signatureHeader({ id, timestampSeconds, body, secrets, keys: [] }),
        'tranche-seq': String(i + 1),
        'tranche-attempt': '1',
        'user-agent': 'Tranche/bench',
      },
      body,
    };
  });
}

export interface FromBare {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Without what the preparation took. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

async function run(order: ToBare): Promise<FromBare> {
  const requests = prepare(order);
  const pool = new Pool(new URL(order.urls[0] as string).origin, { connections: order.concurrency });
  let next = 0;
  const usedBefore = process.cpuUsage();
  const startedAt = performance.timeOrigin + performance.now();
  async function one(): Promise<void> {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const answer = await pool.request({ method: 'POST', ...request });
      await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`);
    }
  }
  await Promise.all(Array.from({ length: order.concurrency }, one));
  const endedAt = performance.timeOrigin + performance.now();
  const { user, system } = process.cpuUsage(usedBefore);
  await pool.close();
  return { startedAt, endedAt, cpuSeconds: (user + system) / 1e6, rssBytes: process.memoryUsage.rss() };
}

process.on('message', (order: ToBare) => {
  void run(order).then(
    (found) => process.send?.({ kind: 'done', ...found }),
    (error: unknown) => process.send?.({ kind: 'failed', error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ kind: 'listening', port: 0 });
