// The address through which a test in any language arms faults, reads what the proxy saw and collects received webhooks.
// Also the receiver of webhooks itself. Holds no expectations.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, type Fault, type FaultProxy, faultKinds, read } from './fault-proxy.ts';

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body_base64: string;
}

export interface Control {
  readonly url: string;
  readonly receiverUrl: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_RECEIVED = 1_000;
const MAX_WAIT_MS = 30_000;
const POLL_MS = 20;

export async function openControl(proxy: FaultProxy): Promise<Control> {
  const received: Received[] = [];

  const receiver = createServer(async (incoming, outgoing) => {
    const body = await read(incoming, MAX_BODY_BYTES);
    const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    if (received.length < MAX_RECEIVED) received.push({ path: incoming.url ?? '/', headers, body_base64: body.toString('base64') });
    outgoing.end();
  });

  const control = createServer(async (incoming, outgoing) => {
    try {
      await answer(incoming, outgoing);
    } catch (error) {
      reply(outgoing, 400, { error: error instanceof Error ? error.message : String(error) });
    }
  });

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://control');
    switch (`${incoming.method} ${url.pathname}`) {
      case 'POST /faults': {
        proxy.arm(faultOf(JSON.parse((await read(incoming, MAX_BODY_BYTES)).toString())));
        return reply(outgoing, 200, {});
      }
      case 'POST /reset':
        proxy.reset();
        return reply(outgoing, 200, {});
      case 'POST /cut':
        return reply(outgoing, 200, { cut: proxy.cut() });
      case 'GET /exchanges':
        return reply(outgoing, 200, { exchanges: proxy.exchanges });
      case 'GET /received':
        return reply(outgoing, 200, { received: await waitFor(url.searchParams) });
      default:
        return reply(outgoing, 404, { error: 'There is POST /faults, POST /reset, POST /cut, GET /exchanges and GET /received.' });
    }
  }

  /** What has come to `path`, as soon as there are `count` of them, or what there is after `wait_ms`. */
  async function waitFor(query: URLSearchParams): Promise<readonly Received[]> {
    const path = query.get('path') ?? '/';
    const count = Number(query.get('count') ?? '1');
    const end = Date.now() + Math.min(Number(query.get('wait_ms') ?? '0'), MAX_WAIT_MS);
    for (;;) {
      const found = received.filter((one) => one.path === path);
      if (found.length >= count || Date.now() >= end) return found;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  for (const server of [receiver, control]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const urlOf = (server: typeof control): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: urlOf(control),
    receiverUrl: urlOf(receiver),
    close: async () => void (await Promise.all([closeServer(receiver), closeServer(control)])),
  };
}

function faultOf(given: Partial<Fault>): Fault {
  if (!faultKinds.some((kind) => kind === given.fault)) throw new Error(`fault must be one of ${faultKinds.join(', ')}`);
  return { times: 1, ...given } as Fault;
}

function reply(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(body));
}
