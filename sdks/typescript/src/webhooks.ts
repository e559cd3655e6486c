// Webhooks as Standard Webhooks signs them: whether one is authentic and recent, and what it tells.
// Works on the bytes that came; receives nothing itself.

import { TrancheError, type WebhookRefusal, WebhookVerificationError } from './errors.ts';
import type { WebhookBody } from './generated/types.ts';
import { hmacSha256 } from './sha256.ts';

export interface WebhookDetails {
  /** The id of the event, the same at every attempt: use it to do things once. */
  readonly id: string;
  /** When this attempt was sent. */
  readonly timestamp: Date;
  /** The place of the event in the workspace; null for a webhook that stands for no event of the log. */
  readonly seq: number | null;
  /** The place of the event that was sent to this endpoint before it. */
  readonly prevSeq: number | null;
  /** Which attempt this is, from 1. */
  readonly attempt: number | null;
}

type WithDetails<Body> = Body extends unknown ? Readonly<Body> & WebhookDetails : never;

/** Any event, told apart by `event`. A later server may send kinds that are not listed here: leave them be, and acknowledge them. */
export type WebhookEvent = WithDetails<WebhookBody>;

/** `Headers`, the headers of Node's `http`, or pairs. */
export type HeadersLike =
  | Iterable<readonly [string, string]>
  | { readonly entries: () => Iterable<[string, string]> }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the timestamp may be from now, either way. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** The clock, for tests. */
  readonly now?: (() => Date) | undefined;
}

/** The body exactly as it came. */
export type Payload = string | Uint8Array | ArrayBuffer;

const DEFAULT_TOLERANCE_SECONDS = 300;

/** The event that a webhook tells of; throws a `WebhookVerificationError` unless it is authentic and recent. */
export function verifyWebhook(
  payload: Payload,
  headers: HeadersLike,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  const raw = rawOf(payload);
  const found = verifyWebhookSignature(raw, headers, secret, options);
  const body = parse(raw);
  const number = (name: string): number | null => (/^\d+$/.test(found[name] ?? '') ? Number(found[name]) : null);
  return {
    ...body,
    id: found['webhook-id'] as string,
    timestamp: new Date(Number(found['webhook-timestamp']) * 1_000),
    seq: number('tranche-seq'),
    prevSeq: number('tranche-prev-seq'),
    attempt: number('tranche-attempt'),
  } as WebhookEvent;
}

/** Verifies without reading the body, for whoever parses by other means. Returns the headers, with their names in lower case. */
export function verifyWebhookSignature(
  payload: Payload,
  headers: HeadersLike,
  secret: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = () => new Date() }: VerifyOptions = {},
): Record<string, string> {
  // Not a number would compare as within, and let any age through.
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0) throw new TrancheError('toleranceSeconds must be a number from 0.');
  const raw = rawOf(payload);
  const secrets: readonly unknown[] = typeof secret === 'string' ? [secret] : Array.isArray(secret) ? secret : [];
  if (secrets.length === 0) throw refusal('invalid_secret', 'There is no secret to verify with.');
  const keys = secrets.map(keyOf);
  const found = lowerCase(headers);
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = found;
  if (!id || !timestamp || !signatures) throw refusal('missing_header', 'webhook-id, webhook-timestamp or webhook-signature is missing.');
  if (!/^\d{1,12}$/.test(timestamp)) throw refusal('invalid_timestamp', 'webhook-timestamp is not a whole number of seconds.');
  const signed = joined(`${id}.${timestamp}.`, raw);
  const offered = signatures.split(' ').filter((one) => one.startsWith('v1,'));
  let matches = false;
  // Every pair is compared, whatever matched before.
  for (const key of keys) {
    const expected = `v1,${btoa(String.fromCharCode(...hmacSha256(key, signed)))}`;
    for (const one of offered) matches = isSame(one, expected) || matches;
  }
  if (!matches) throw refusal('no_matching_signature', 'No signature fits: another secret, or the body is not exactly as it was sent.');
  const ageSeconds = Math.floor(now().getTime() / 1_000) - Number(timestamp);
  if (ageSeconds > toleranceSeconds) throw refusal('timestamp_too_old', `Sent ${ageSeconds} s ago.`);
  if (ageSeconds < -toleranceSeconds) throw refusal('timestamp_too_new', `Sent ${-ageSeconds} s in the future.`);
  return found;
}

const refusal = (reason: WebhookRefusal, message: string): WebhookVerificationError => new WebhookVerificationError(reason, message);

/** What a parser made of a body cannot be verified any more; that is for the receiver's developer to know, not for the sender. */
function rawOf(payload: Payload): string | Uint8Array {
  if (typeof payload === 'string') return payload;
  if (ArrayBuffer.isView(payload)) return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
  // Not `instanceof`: a body may come from another realm.
  if (Object.prototype.toString.call(payload) === '[object ArrayBuffer]') return new Uint8Array(payload);
  const what = payload === null ? 'null' : typeof payload;
  throw new TrancheError(`payload must be the body exactly as it came, as text or bytes, before any parsing; this is ${what}.`);
}

function keyOf(secret: unknown): Uint8Array {
  const text = typeof secret !== 'string' ? '' : secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/.test(text) || text === '') {
    throw refusal('invalid_secret', 'A secret must be "whsec_" and base64.');
  }
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function lowerCase(headers: HeadersLike): Record<string, string> {
  if (typeof headers !== 'object' || headers === null) throw new TrancheError('headers must be the headers of the request.');
  const pairs: Iterable<readonly [string, string | readonly string[] | undefined]> =
    Symbol.iterator in headers
      ? headers
      : typeof headers.entries === 'function'
        ? headers.entries()
        : Object.entries(headers as Readonly<Record<string, string | readonly string[] | undefined>>);
  const found: Record<string, string> = {};
  for (const [name, value] of pairs)
    if (value !== undefined) found[name.toLowerCase()] = typeof value === 'string' ? value : value.join(' ');
  return found;
}

function joined(prefix: string, payload: string | Uint8Array): Uint8Array {
  const encoder = new TextEncoder();
  if (typeof payload === 'string') return encoder.encode(prefix + payload);
  const start = encoder.encode(prefix);
  const whole = new Uint8Array(start.length + payload.length);
  whole.set(start);
  whole.set(payload, start.length);
  return whole;
}

/** Takes as long for a wrong text as for the right one. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < other.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}

function parse(payload: string | Uint8Array): { readonly event: string; readonly data: object } {
  let body: unknown;
  try {
    body = JSON.parse(typeof payload === 'string' ? payload : new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch {
    body = null;
  }
  const { event, data } = (body ?? {}) as { readonly event?: unknown; readonly data?: unknown };
  if (typeof event !== 'string' || typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw refusal('invalid_payload', 'The body is no JSON object with "event" and "data".');
  }
  return { event, data };
}
