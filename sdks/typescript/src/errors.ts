// Everything the client throws on purpose. The classes for the codes of the API are generated beside these.
// Holds no request: neither keys nor bodies can be printed from an error.

import type { FieldError } from './generated/types.ts';

export type { FieldError } from './generated/types.ts';

/** The root of all errors of this client. */
export class TrancheError extends Error {
  override name = 'TrancheError';
}

export interface ApiErrorParts {
  readonly status: number;
  /** Null where the answer was no problem document of the API. */
  readonly code: string | null;
  readonly message: string;
  readonly requestId: string | null;
  readonly fieldErrors: readonly FieldError[];
  readonly headers: Headers;
  readonly retryAfterMs: number | null;
}

/** The server, or something before it, answered with an error. There is a subclass for each `code`. */
export class ApiError extends TrancheError {
  override name = 'ApiError';
  /** What went wrong, stable. Null where the answer came from something else than the API. */
  readonly code: string | null;
  /** The HTTP status. */
  readonly status: number;
  /** Names the request in the log of the server. */
  readonly requestId: string | null;
  /** Every field that is wrong, where fields are at fault. */
  readonly fieldErrors: readonly FieldError[];
  readonly headers: Headers;
  /** After how many seconds the server asks to be called again; null where it does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(parts: ApiErrorParts) {
    super(parts.message);
    this.code = parts.code;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.fieldErrors = parts.fieldErrors;
    this.headers = parts.headers;
    this.retryAfterSeconds = parts.retryAfterMs === null ? null : parts.retryAfterMs / 1_000;
  }
}

/** No whole answer came: the connection was refused, dropped or cut short. */
export class ApiConnectionError extends TrancheError {
  override name = 'ApiConnectionError';
}

/** No whole answer came within the timeout. */
export class ApiTimeoutError extends ApiConnectionError {
  override name = 'ApiTimeoutError';
}

/** The server answered with a success, but not with what the operation answers: another version of it, or not the API at all. */
export class UnexpectedAnswerError extends TrancheError {
  override name = 'UnexpectedAnswerError';
  /** The HTTP status. */
  readonly status: number;
  readonly requestId: string | null;

  constructor(message: string, { status, requestId }: { readonly status: number; readonly requestId: string | null }) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }
}

/** The caller cancelled, through its `AbortSignal`. */
export class ApiAbortedError extends TrancheError {
  override name = 'ApiAbortedError';
}

export type WebhookRefusal =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'no_matching_signature'
  | 'invalid_payload'
  | 'invalid_secret';

/** A webhook is not what the service sent, or not recent. */
export class WebhookVerificationError extends TrancheError {
  override name = 'WebhookVerificationError';
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}
