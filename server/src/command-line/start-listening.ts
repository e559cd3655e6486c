// What `tranche listen` is given, checked before anything is opened; and its end by Ctrl+C.
// Forwards nothing by itself.

import { randomFillSync } from 'node:crypto';
import { allEventTypes } from '../domain/event.ts';
import { OperatorError } from '../operations/operator-error.ts';
import { makeSigningSecret } from '../webhooks/sign.ts';
import { targetOf } from './client.ts';
import { listen } from './listen.ts';

export interface ListenWords {
  readonly forwardTo: string;
  readonly events?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
}

const known: readonly string[] = allEventTypes;

export async function startListening(
  words: ListenWords,
  environment: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<void> {
  const { forwardTo, events = null, secret = makeSigningSecret((bytes) => void randomFillSync(bytes)) } = words;
  if (!/^https?:$/.test(URL.parse(forwardTo)?.protocol ?? ''))
    throw new OperatorError(`--forward-to ${forwardTo} is not an http or https URL. One would be: http://localhost:3000/hook`);
  const unknown = events?.find((type) => !known.includes(type));
  if (unknown !== undefined) throw new OperatorError(`There is no event "${unknown}". There are: ${known.join(', ')}.`);
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret))
    throw new OperatorError('--secret must be whsec_ and 24 to 64 bytes in base64, as the server makes them.');
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  process.once('SIGINT', leave).once('SIGTERM', leave);
  await listen({ target: targetOf(words, environment), forwardTo, secret, types: events, signal: leaving.signal, say });
}
