// The headers that make a request conditional or repeatable: If-Match, If-None-Match, Idempotency-Key.
// Parses only; what a version or a key stands for is decided elsewhere.

import { hash } from 'node:crypto';
import type { Refusal } from '../../domain/errors.ts';
import { validationFailed } from '../validation.ts';

/** 1 to 255 visible ASCII characters, bare. */
const BARE_KEY = /^[\x21-\x7e]{1,255}$/;
/** A string of structured fields (RFC 9651 §3.3.3): quoted, with \" and \\ for these two characters. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** The key of an Idempotency-Key header. `"abc"` and `abc` are the same key, as the two forms of the header mean the same. */
export function parseIdempotencyKey(header: string): { readonly key: string } | { readonly refusal: Refusal } {
  const quoted = QUOTED.exec(header);
  const key = quoted === null ? header : (quoted[1] as string).replace(/\\(["\\])/g, '$1');
  if (BARE_KEY.test(key) && (quoted !== null || !header.startsWith('"'))) return { key };
  const error = {
    pointer: 'header/Idempotency-Key',
    code: 'wrong_format',
    message: 'Must be 1 to 255 visible ASCII characters, bare or as one quoted string.',
  };
  return { refusal: validationFailed([error]) };
}

/** JSON with the keys of every object in order, so that the same request has the same text however its client ordered it. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}

/** What a request is, to tell a repetition from another request. Of the raw body: a default added later must not break a replay. */
export function fingerprintOf(method: string, path: string, body: unknown): Buffer {
  return hash('sha256', `${method} ${path}\n${canonical(body)}`, 'buffer');
}

const VERSION_TAG = /^"(0|[1-9]\d{0,9})"$/;

/** The version that If-Match asks for; null for `*`, which any existing resource meets. Weak and foreign tags can never match (RFC 9110 §13.1.1). */
export function parseIfMatch(header: string): { readonly version: number | null } | { readonly refusal: Refusal } {
  if (header.trim() === '*') return { version: null };
  const tag = VERSION_TAG.exec(header.trim());
  if (tag !== null) return { version: Number(tag[1]) };
  return {
    refusal: { code: 'precondition_failed', detail: 'If-Match must be the ETag of the resource as it was sent, such as "3", or *.' },
  };
}

/** Whether If-None-Match names this ETag. Compared weakly, as RFC 9110 §13.1.2 asks: W/"3" and "3" are the same. */
export function isNotModified(header: string, etag: string): boolean {
  return header.split(',').some((tag) => {
    const text = tag.trim();
    return text === '*' || text === etag || text === `W/${etag}`;
  });
}
