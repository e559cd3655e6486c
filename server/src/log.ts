// The log of the service, on standard error: one line of JSON an entry.
// Errors are written down by what is ours to tell: kind, words and place. Whatever else hangs on them may be somebody's data.

import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** Of the system (`ECONNREFUSED`) or of PostgreSQL. */
  readonly code?: string;
  readonly cause?: LoggedError;
  readonly errors?: readonly LoggedError[];
}

/** Causes of causes, and errors of an AggregateError: more than there ever are. */
const MAX_DEPTH = 5;
const MAX_ERRORS = 10;

/** PostgreSQL's class 22, data exceptions, quote the value itself; all the others name tables, columns and constraints. */
const quotesValue = (sqlstate: unknown): boolean => typeof sqlstate === 'string' && /^22...$/.test(sqlstate);

/** An error without the fields that hold values: a database's `detail` and `where`, a statement's parameters, what a mail server was told. */
export function loggedError(error: unknown, depth = 0): LoggedError | string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const { code: given, sqlstate, errors } = error as Error & { code?: unknown; sqlstate?: unknown; errors?: unknown };
  const code = sqlstate ?? given;
  const hides = quotesValue(code);
  const message = hides ? 'a value that the database does not take' : error.message;
  const inner = depth < MAX_DEPTH ? { cause: nested(error.cause, depth), errors: listed(errors, depth) } : {};
  return {
    type: error.constructor.name,
    message,
    stack: hides ? placesOf(error) : error.stack,
    ...(typeof code === 'string' ? { code } : {}),
    ...(inner.cause === undefined ? {} : { cause: inner.cause }),
    ...(inner.errors === undefined ? {} : { errors: inner.errors }),
  };
}

function nested(cause: unknown, depth: number): LoggedError | undefined {
  const logged = cause instanceof Error ? loggedError(cause, depth + 1) : undefined;
  return typeof logged === 'object' ? logged : undefined;
}

const listed = (errors: unknown, depth: number): LoggedError[] | undefined =>
  Array.isArray(errors) ? errors.slice(0, MAX_ERRORS).flatMap((error) => nested(error, depth) ?? []) : undefined;

/** The stack without the words at its head. */
const placesOf = ({ stack }: Error): string | undefined => stack?.match(/^ +at .*$/gm)?.join('\n');

export function createLog(
  config: Pick<Config, 'LOG_LEVEL'>,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  return pino(
    {
      level: config.LOG_LEVEL,
      redact: ['req.headers.authorization', 'headers.authorization'],
      serializers: { err: (error: unknown) => loggedError(error) },
    },
    destination,
  );
}
