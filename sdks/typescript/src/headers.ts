// The headers of a request: which there are, and that each of them can be sent.
// Tells no value of a header to anyone: it may be a key.

import { TrancheError } from './errors.ts';
import type { CallOptions, Fetch } from './options.ts';

type Values = Readonly<Record<string, string>>;

/** Those of a call that are the same at every attempt. */
export function headersOf(
  userAgent: string | null,
  ofClient: Values,
  method: string,
  body: unknown,
  options: CallOptions,
): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (userAgent !== null) headers['user-agent'] = userAgent;
  if (body !== undefined) headers['content-type'] = 'application/json';
  // Made once for the call, so that every attempt of it is the same request to the server.
  if (method === 'POST' || method === 'PATCH') headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
  if (options.ifMatch !== undefined) headers['if-match'] = tagOf(options.ifMatch);
  if (options.ifNoneMatch !== undefined) headers['if-none-match'] = tagOf(options.ifNoneMatch);
  for (const more of [ofClient, options.headers]) {
    for (const [name, value] of Object.entries(more ?? {})) headers[name.toLowerCase()] = value;
  }
  checkHeaders(headers);
  return headers;
}

const tagOf = (tag: string | number): string => (typeof tag === 'number' ? `"${tag}"` : tag);

/** A runtime would refuse such a value as well, with a message that repeats it. */
export function checkHeaders(headers: Values): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new TrancheError('What is given as the name of a header is none.');
    const allowed = name.toLowerCase() === 'idempotency-key' ? /^[\x21-\x7e]+$/ : /^[\t\x20-\x7e]*$/;
    if (typeof value !== 'string' || !allowed.test(value)) throw new TrancheError(`The value of ${name} cannot be sent as a header.`);
  }
}

/** The key itself, when it is one. */
export function checkedKey(key: unknown): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new TrancheError('The API key must be visible ASCII characters: it is empty, or has a space, a line break or the like in it.');
}

/** What sends requests may fail with an error that quotes their headers. That one is replaced. */
export function discreet(send: Fetch): Fetch {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (cause) {
      const { accept: _accept, 'user-agent': _agent, 'content-type': _type, ...own } = init.headers as Values;
      const values = Object.values(own).map((value) => value.replace(/^Bearer /, ''));
      throw quotes(cause, values, 0) ? new Error('an error that quotes what was sent, and is not shown') : cause;
    }
  };
}

/** Errors refer to others, and now and then to a request; deeper than this nothing prints them. */
const MAX_DEPTH = 5;
/** A shorter value says nothing by being found. */
const MIN_QUOTE = 8;

function quotes(thing: unknown, values: readonly string[], depth: number): boolean {
  if (typeof thing === 'string') return values.some((value) => value.length >= MIN_QUOTE && thing.includes(value));
  if (typeof thing !== 'object' || thing === null || depth > MAX_DEPTH) return false;
  return Object.getOwnPropertyNames(thing).some((name) => quotes((thing as Record<string, unknown>)[name], values, depth + 1));
}
