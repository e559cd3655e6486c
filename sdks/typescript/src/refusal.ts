// What an answer that is no success means: the class for its code, and what it says of itself. Also why none came.
// Sends nothing, and keeps nothing of the request.

import { ApiError, type FieldError } from './errors.ts';
import { errorClasses } from './generated/errors.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function errorOf({ status, headers, text }: Answer, askedMs: number | null): ApiError {
  const problem = problemOf(text);
  const code = typeof problem.code === 'string' ? problem.code : null;
  const known = code === null || !Object.hasOwn(errorClasses, code) ? undefined : errorClasses[code];
  const error = new (known?.type ?? ApiError)({
    status,
    code,
    message: typeof problem.detail === 'string' ? problem.detail : `The answer has the status ${status}.`,
    requestId: headers.get('request-id') ?? (typeof problem.request_id === 'string' ? problem.request_id : null),
    fieldErrors: Array.isArray(problem.errors) ? (problem.errors as FieldError[]) : [],
    headers,
    retryAfterMs: askedMs,
  });
  if (known !== undefined) error.name = known.name;
  return error;
}

function problemOf(text: string): Record<string, unknown> {
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === 'object' && problem !== null ? (problem as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Runtimes hide the reason one deeper: "fetch failed", and in its cause why.
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}
