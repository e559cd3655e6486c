// A receiver of webhooks as an integrator would run one: it verifies every signature with the client, and keeps what was genuine.
// Listens on loopback; whoever starts one closes it.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '../../sdks/typescript/src/index.ts';

export interface Received {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  /** With the secret of the endpoint, which is known only once it was made. */
  trust(secret: string): void;
  /** What was genuine, in the order in which it came. */
  readonly received: readonly Received[];
  /** How many requests were not. */
  readonly refused: () => number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  let secret = '';
  let refused = 0;
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    try {
      const { event, data } = verifyWebhook(Buffer.concat(parts), request.headers, secret);
      received.push({ event, data: data as unknown as Received['data'] });
      response.writeHead(200).end();
    } catch {
      refused += 1;
      response.writeHead(400).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    trust: (given) => {
      secret = given;
    },
    received,
    refused: () => refused,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
