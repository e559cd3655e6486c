// The subscriber's side of the demo: a receiver on a real socket that verifies each webhook with the official library before believing it.
// Knows nothing of the server but the secret it was given.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';

const MAX_BODY_BYTES = 1024 * 1024;

export interface Received {
  /** The `webhook-id` header: the same at every attempt, so that a repeat is known for one. */
  readonly id: string;
  readonly seq: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly receivedAt: number;
}

export interface Receiver {
  readonly url: string;
  /** Set once it is known; what arrives before cannot be verified and is refused. */
  secret: string | null;
  readonly received: readonly Received[];
  /** Why deliveries were refused, if any were. */
  readonly refused: readonly string[];
  /** Resolves when `done` says so of what has arrived; false when it did not within the time. */
  waitFor(done: (received: readonly Received[]) => boolean, timeoutMs: number): Promise<boolean>;
  close(): void;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const refused: string[] = [];
  const watchers = new Set<() => void>();

  async function take(request: IncomingMessage): Promise<void> {
    const raw = await readBody(request);
    if (receiver.secret === null) throw new Error('a webhook arrived before the secret was known');
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    // Over the raw bytes, as they came: a body that was parsed and written again would have another signature.
    const body = new Webhook(receiver.secret).verify(raw, headers) as { event: string; data: Record<string, unknown> };
    const id = headers['webhook-id'] ?? '';
    if (received.some((earlier) => earlier.id === id)) return;
    received.push({ id, seq: Number(headers['tranche-seq']), event: body.event, data: body.data, receivedAt: performance.now() });
  }

  const server = createServer((request, response) => {
    take(request)
      .then(
        () => response.writeHead(200).end(),
        (error: unknown) => {
          refused.push(error instanceof Error ? error.message : String(error));
          response.writeHead(400).end();
        },
      )
      .finally(() => {
        for (const watcher of watchers) watcher();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/webhooks`,
    secret: null,
    received,
    refused,
    waitFor(done, timeoutMs) {
      return new Promise((resolve) => {
        const finish = (result: boolean): void => {
          clearTimeout(timer);
          watchers.delete(look);
          resolve(result);
        };
        const look = (): void => {
          if (done(received)) finish(true);
        };
        const timer = setTimeout(() => finish(false), timeoutMs);
        watchers.add(look);
        look();
      });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return receiver;
}
