// What a success brings: checked to be what the operation answers, since other servers answer with JSON too.
// Repeats nothing of what came but the name of its kind.

import { ApiConnectionError, UnexpectedAnswerError } from './errors.ts';
import type { Answer } from './refusal.ts';

/** `expected` is what the answer calls its `object`; null where there is to be none. */
export function resultOf(answer: Answer, expected: string | null): unknown {
  const body = answer.text === '' ? undefined : parse(answer.text);
  if (
    expected === null ? body === undefined : isObject(body) && body.object === expected && (expected !== 'list' || Array.isArray(body.data))
  )
    return isObject(body) && 'secret' in body ? discreet(body) : body;
  const wanted = expected === null ? 'nothing' : `"${expected}"`;
  throw new UnexpectedAnswerError(`Expected ${wanted} and got ${kindOf(body)}. Is baseUrl that of the API?`, {
    status: answer.status,
    requestId: answer.headers.get('request-id'),
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A success that cannot be read is an answer cut short, or of something in between; what came is nobody's to print.
    throw new ApiConnectionError('The answer is not whole: its body is no JSON.', {
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}

const isObject = (body: unknown): body is Record<string, unknown> => typeof body === 'object' && body !== null && !Array.isArray(body);

function kindOf(body: unknown): string {
  if (body === undefined) return 'an empty body';
  if (body === null) return 'null';
  if (Array.isArray(body)) return 'an array';
  if (!isObject(body)) return `a ${typeof body}`;
  const { object } = body;
  return typeof object === 'string' && /^\w{1,40}$/.test(object)
    ? `an incomplete or other object, "${object}"`
    : 'an object that does not say what it is';
}

/** A new secret is in the result, and in its JSON, but not in what `console.log` makes of it. */
function discreet(body: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty(body, Symbol.for('nodejs.util.inspect.custom'), { value: () => ({ ...body, secret: '[secret]' }) });
}
