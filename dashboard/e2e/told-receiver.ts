// A receiver of webhooks that answers as it is told, and remembers what came: for what goes wrong between server and receiver.
// Verifies nothing; receiver.ts does. Listens on loopback.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ToldReceiver {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** What it answers from now on. */
  answer(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export async function startToldReceiver(): Promise<ToldReceiver> {
  const heard: Heard[] = [];
  let next = { status: 200, body: '', headers: {} as Readonly<Record<string, string>> };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    heard.push({ headers: request.headers, body: Buffer.concat(parts).toString('utf8') });
    response.writeHead(next.status, next.headers).end(next.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    heard,
    answer(status, body = '', headers = {}) {
      next = { status, body, headers };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
