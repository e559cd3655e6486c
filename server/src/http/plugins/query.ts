// The query string as one text per name. Strict: a repeated or unreadable parameter is refused rather than guessed at.
// Knows no parameter; the route's schema does.

import type { FieldError, Refusal } from '../../domain/errors.ts';
import { textProblem, validationFailed } from '../validation.ts';

export type RawQuery = Record<string, string>;

/** The part after the question mark, or '' where there is none. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at + 1);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

const unknownParameter = (name: string): FieldError => ({
  pointer: `query/${name}`,
  code: 'unknown_parameter',
  message: `There is no query parameter "${name}" here; remove it.`,
});

/** Names and values of a query string. `metadata[key]` arrives under exactly that name. */
export function parseQuery(text: string): { readonly query: RawQuery } | { readonly refusal: Refusal } {
  const query: RawQuery = Object.create(null);
  const errors: FieldError[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (name === null || value === null) {
      return { refusal: { code: 'malformed_request', detail: 'The query string is not percent-encoded UTF-8.' } };
    }
    const pointer = `query/${name}`;
    const problem = textProblem(name, true) === null ? textProblem(value) : null;
    if (textProblem(name, true) !== null) {
      errors.push({ pointer: 'query', code: 'control_character', message: 'The name of a parameter must not hold control characters.' });
    } else if (problem !== null) errors.push({ pointer, ...problem });
    // No object schema can refuse this name: what is built with it has no such property of its own.
    else if (name === '__proto__') errors.push(unknownParameter(name));
    else if (name in query) errors.push({ pointer, code: 'repeated_parameter', message: 'Must be given only once.' });
    else query[name] = value;
  }
  return errors.length > 0 ? { refusal: validationFailed(errors) } : { query };
}

/** For a route without a query of its own: anything in it is a mistake of the caller, and silence would hide it. */
export function refuseQuery(text: string): Refusal | null {
  const parsed = parseQuery(text);
  if ('refusal' in parsed) return parsed.refusal;
  const errors = Object.keys(parsed.query).map(unknownParameter);
  return errors.length > 0 ? validationFailed(errors) : null;
}
