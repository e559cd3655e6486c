// The body of a request as parsed JSON: read after the key was checked, bounded, UTF-8, application/json, nothing else.
// Knows no schema. Every way in which a client can get this wrong is a refusal, never a throw.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../domain/errors.ts';
import { checkRawBody } from '../validation.ts';
import { jsonTextProblem } from './json-text.ts';

/** 1 MiB: a hundred milestones with all their fields fit several times. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** `value` is undefined where the body was empty; `bytes` is how long it was. */
export type BodyOutcome = { readonly value: unknown; readonly bytes: number } | { readonly refusal: Refusal };

const refuse = (code: Refusal['code'], detail: string): { readonly refusal: Refusal } => ({ refusal: { code, detail } });
const tooLarge = () => refuse('body_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);

/** Why the headers alone rule the body out, or null. */
function refuseHeaders(request: IncomingMessage): { readonly refusal: Refusal } | null {
  const { headers } = request;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return refuse('unsupported_media_type', 'The body is sent with a Content-Encoding; send it uncompressed.');
  }
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJson(type)) {
    return refuse(
      'unsupported_media_type',
      type === undefined ? 'The Content-Type header is missing.' : 'The Content-Type is not application/json.',
    );
  }
  return Number(headers['content-length']) > MAX_BODY_BYTES ? tooLarge() : null;
}

/** `application/json` with any parameters, of which a charset may only say UTF-8: JSON has no other encoding (RFC 8259 §8.1). */
function isJson(type: string | undefined): boolean {
  const [media, ...parameters] = (type ?? '').toLowerCase().split(';');
  return (
    media?.trim() === 'application/json' &&
    parameters.every((parameter) => {
      const [name, value] = parameter.split('=');
      return name?.trim() !== 'charset' || /^\s*"?utf-?8"?\s*$/.test(value ?? '');
    })
  );
}

/** Whether a body is announced at all; without either header a request has none (RFC 9112 §6.3). */
function announcesBody(request: IncomingMessage): boolean {
  const { headers } = request;
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Resolves with null when the client went away: there is nobody to answer. */
export function readBody(request: IncomingMessage, response: ServerResponse): Promise<BodyOutcome | null> | BodyOutcome {
  if (!announcesBody(request)) return { value: undefined, bytes: 0 };
  const refusal = refuseHeaders(request);
  if (refusal !== null) return refusal;
  // Only now, with the key and the headers in order, is a client that asked for it told to go on.
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) settle(tooLarge());
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      try {
        settle(parseBody(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)));
      } catch (error) {
        // A defect of ours. Thrown from a listener it would end the process; rejected, it is this request's 500.
        reject(error);
      }
    };
    const onGone = (): void => settle(null);
    const settle = (outcome: BodyOutcome | null): void => {
      request.off('data', onData).off('end', onEnd).off('close', onGone);
      resolve(outcome);
    };
    // `error` keeps its listener: an aborted request may still raise one after we have let go of it.
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

function parseBody(bytes: Buffer): BodyOutcome {
  if (bytes.length === 0) return { value: undefined, bytes: 0 };
  if (!isUtf8(bytes)) return refuse('malformed_json', 'The body is not UTF-8.');
  const text = bytes.toString('utf8', startsWithMark(bytes) ? 3 : 0);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse('malformed_json', `The body is not JSON: ${error instanceof Error ? error.message : 'it cannot be parsed'}.`);
  }
  const problem = jsonTextProblem(text);
  if (problem !== null) return refuse('malformed_json', `The body is ambiguous: ${problem}.`);
  const refusal = checkRawBody(value);
  return refusal === null ? { value, bytes: bytes.length } : { refusal };
}

/** A byte order mark: not JSON, but some editors and shells write one and mean no harm (RFC 8259 §8.1 lets a parser skip it). */
const startsWithMark = (bytes: Buffer): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
