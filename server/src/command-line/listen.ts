// `tranche listen`: forwards live events to a receiver on the developer's machine, signed like webhooks, and prints what came of each.
// Keeps nothing: where it stood is in memory, and an event that the receiver does not take is not sent again.

import { setTimeout as pause } from 'node:timers/promises';
import { readSigningSecret, signatureHeader } from '../webhooks/sign.ts';
import { type ApiTarget, createClient, Refused, type ToldEvent } from './client.ts';

const FORWARD_TIMEOUT_MS = 15_000;
/** Without a sign of life for so long the connection is taken for dead; the server gives one every 15 s. */
const SILENCE_MS = 45_000;
/** Before another try at connecting, doubled up to the second. */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;

export interface ListenOptions {
  readonly target: ApiTarget;
  readonly forwardTo: string;
  readonly secret: string;
  /** Null: every kind. */
  readonly types: readonly string[] | null;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Runs until the signal, or until the server refuses for good. */
export async function listen(options: ListenOptions): Promise<void> {
  const { target, forwardTo, secret, types, signal, say } = options;
  const client = createClient(target);
  let place: string | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let isFirst = true;
  say(`Forwarding ${types === null ? 'every kind of event' : types.join(', ')}`);
  say(`  from    ${target.url}`);
  say(`  to      ${forwardTo}`);
  say(`  secret  ${secret}`);
  say('');
  while (!signal.aborted) {
    try {
      const stream = await client.openStream(types === null ? {} : { event_types: types.join(',') }, place);
      say(isFirst ? 'Ready. Waiting for events; Ctrl+C ends.' : 'Connected again; going on where it broke off.');
      isFirst = false;
      pauseMs = FIRST_PAUSE_MS;
      const leave = (): void => stream.close();
      signal.addEventListener('abort', leave);
      const silence = setTimeout(leave, SILENCE_MS);
      try {
        for await (const message of stream.messages) {
          silence.refresh();
          if (message.data !== null) say(await forward(JSON.parse(message.data) as ToldEvent, options));
          if (message.id !== null) place = message.id;
          silence.refresh();
        }
      } finally {
        clearTimeout(silence);
        signal.removeEventListener('abort', leave);
      }
      if (!signal.aborted) say('The server ended the stream; connecting again.');
    } catch (error) {
      if (error instanceof Refused) throw error;
      if (!signal.aborted) say(`Not connected: ${reasonOf(error)} Trying again.`);
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message.replace(/\.?$/, '.') : 'the connection broke.');

/** Sends one event as its webhook, with the very bytes, and says in a line of a terminal what came of it. */
async function forward(event: ToldEvent, { forwardTo, secret }: ListenOptions): Promise<string> {
  const body = JSON.stringify({ event: event.type, data: event.data });
  const began = performance.now();
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const outcome = await post(
    forwardTo,
    {
      'content-type': 'application/json',
      'user-agent': 'Tranche/listen',
      'webhook-id': event.id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signatureHeader({ id: event.id, timestampSeconds, body, secrets: [readSigningSecret(secret)] }),
      'Tranche-Seq': String(event.seq),
      'Tranche-Attempt': '1',
    },
    body,
  );
  return line(new Date(), event, outcome, Math.round(performance.now() - began));
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS) });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : 'failed';
    return code === 'TimeoutError' ? 'timeout' : code;
  }
}

/** `14:02:11  payment.released              #42        200    13 ms`: within 80 columns, whatever the receiver did. */
export function line(at: Date, { type, seq }: Pick<ToldEvent, 'type' | 'seq'>, outcome: string, durationMs: number): string {
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
  return `${time}  ${type.padEnd(28)} ${`#${seq}`.padEnd(10)} ${outcome.slice(0, 16).padEnd(16)} ${String(durationMs).padStart(6)} ms`;
}
