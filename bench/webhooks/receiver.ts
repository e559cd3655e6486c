// The receiver of the webhook benchmark, a process of its own: answers 200 after the delay that the path asks for, and counts.
// `/after/10/name` answers after 10 ms, `/hang/name` never. Told what to do, and asked what it saw, by messages.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Milliseconds since 1970 with a fraction: the same clock in every process of a machine. */
const now = (): number => performance.timeOrigin + performance.now();

export type ToReceiver = { readonly kind: 'reset' } | { readonly kind: 'report' };

export interface Seen {
  /** Answers sent. */
  readonly answered: number;
  /** When the first request began and the last answer was sent. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** How many answers had been sent by when, every so many. */
  readonly milestones: readonly (readonly [answered: number, at: number])[];
  /** When each event arrived: `name/sequence number` and the time, of paths that answer. */
  readonly arrivals: readonly (readonly [string, number])[];
}

const MILESTONE = 500;
/** Only the latencies of short runs are looked at one by one. */
const MAX_ARRIVALS = 50_000;

let seen = { answered: 0, firstAt: 0, lastAt: 0, milestones: [] as [number, number][], arrivals: [] as [string, number][] };

function answer(response: ServerResponse): void {
  response.end('{"received":true}');
  seen.answered += 1;
  seen.lastAt = now();
  if (seen.answered % MILESTONE === 0) seen.milestones.push([seen.answered, seen.lastAt]);
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const arrivedAt = now();
  const [, kind, delay, name] = (request.url ?? '').split('/');
  request.resume();
  if (kind === 'hang') return;
  if (seen.firstAt === 0) seen.firstAt = arrivedAt;
  if (seen.arrivals.length < MAX_ARRIVALS) seen.arrivals.push([`${name}/${request.headers['tranche-seq']}`, arrivedAt]);
  request.on('end', () => {
    const delayMs = Number(delay);
    if (delayMs === 0) answer(response);
    else setTimeout(answer, delayMs, response);
  });
}

const server = createServer({ keepAliveTimeout: 60_000 }, receive);
server.listen(0, '127.0.0.1', () => process.send?.({ kind: 'listening', port: (server.address() as AddressInfo).port }));

process.on('message', (message: ToReceiver) => {
  if (message.kind === 'reset') seen = { answered: 0, firstAt: 0, lastAt: 0, milestones: [], arrivals: [] };
  process.send?.({ kind: 'seen', seen });
});
process.on('disconnect', () => process.exit(0));
