// What is wrong with a request, field by field: Zod's issues and the raw walk of a body become the catalogue's field errors.
// Says where, a stable code, and what would be right; decides no rule itself, the schemas do.
//
// Pointers: a JSON pointer into the body (`/milestones/0/amount`), `query/<name>` or `header/<Name>`. An empty one is the body itself.

import type { z } from 'zod';
import type { FieldError, Refusal } from '../domain/errors.ts';

type Issue = z.core.$ZodIssue;

/** More would help nobody, and a body can hold tens of thousands of mistakes. */
export const MAX_FIELD_ERRORS = 100;

export function validationFailed(errors: readonly FieldError[]): Refusal {
  const shown = errors.slice(0, MAX_FIELD_ERRORS);
  const [first] = shown;
  const where = first === undefined || first.pointer === '' ? 'The body' : first.pointer;
  const more = errors.length - 1;
  const others = more <= 0 ? '' : ` (and ${more === 1 ? 'one more error' : `${more} more errors`})`;
  return { code: 'validation_failed', detail: `${where}: ${first?.message ?? 'not valid'}${others}`, errors: shown };
}

/** Which part of the request the issues are about; it decides how pointers are written and what a field is called. */
export type Part = 'body' | 'query';

/** Parses with the schema; on failure, every issue as a field error. */
export function validate<Value>(
  schema: z.ZodType<Value>,
  input: unknown,
  part: Part,
): { readonly value: Value } | { readonly refusal: Refusal } {
  const parsed = schema.safeParse(input, { error: part === 'body' ? bodyMessage : queryMessage, reportInput: true });
  if (parsed.success) return { value: parsed.data };
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const issue of parsed.error.issues) {
    for (const error of fieldErrors(issue, [], part)) {
      const id = `${error.code} ${error.pointer}`;
      if (!seen.has(id)) errors.push(error);
      seen.add(id);
    }
  }
  return { refusal: validationFailed(errors) };
}

export function bodyPointer(path: readonly PropertyKey[]): string {
  let pointer = '';
  for (const key of path) pointer += `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return pointer;
}

const pointerOf = (path: readonly PropertyKey[], part: Part): string => (part === 'body' ? bodyPointer(path) : `query${bodyPointer(path)}`);

function fieldErrors(issue: Issue, parents: readonly PropertyKey[], part: Part): FieldError[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const code = part === 'body' ? 'unknown_field' : 'unknown_parameter';
    return issue.keys.map((key) => ({ pointer: pointerOf([...path, key], part), code, message: unknownMessage(key, part) }));
  }
  if (issue.code === 'invalid_union') {
    // Speak of the form that was meant: the one whose mistakes are within the value, and of several the one with the fewest.
    const meant = issue.errors.filter((inner) => inner.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys'));
    const [closest] = meant.sort((a, b) => a.length - b.length);
    if (closest !== undefined) return closest.flatMap((inner) => fieldErrors(inner, path, part));
  }
  return [{ pointer: pointerOf(path, part), code: codeOf(issue), message: issue.message }];
}

const MEASURED = {
  string: ['too_short', 'too_long'],
  array: ['too_few', 'too_many'],
  set: ['too_few', 'too_many'],
  object: ['too_few', 'too_many'],
} as const;

/** The stable code of an issue. Schemas name one of their own for a rule of theirs: `.refine(…, { params: { code: 'not_unique' } })`. */
function codeOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'missing' : 'wrong_type';
    case 'too_small':
    case 'too_big': {
      const measured = MEASURED[issue.origin as keyof typeof MEASURED] ?? ['too_small', 'too_large'];
      return issue.code === 'too_small' ? measured[0] : measured[1];
    }
    case 'invalid_format':
      return 'wrong_format';
    case 'invalid_value':
      return issue.input === undefined ? 'missing' : 'not_allowed';
    case 'invalid_key':
      return 'wrong_key';
    case 'custom':
      return typeof issue.params?.code === 'string' ? issue.params.code : 'not_valid';
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_element':
    case 'unrecognized_keys':
      return 'not_valid';
    default:
      return issue satisfies never;
  }
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
};

function unknownMessage(key: string, part: Part): string {
  const shown = key.length > 100 ? `${key.slice(0, 100)}…` : key;
  return part === 'body' ? `There is no field "${shown}" here; remove it.` : `There is no query parameter "${shown}" here; remove it.`;
}

/** What Zod would say by itself, in the words of a client's author. A message that the schema brings along goes first. */
const messageFor =
  (part: Part) =>
  (issue: z.core.$ZodRawIssue): string => {
    const known = issue as z.core.$ZodRawIssue<Issue>;
    switch (known.code) {
      case 'invalid_type': {
        const wanted = typeNames[known.expected] ?? `of type ${known.expected}`;
        return known.input === undefined ? `Required: ${wanted}.` : `Must be ${wanted}.`;
      }
      case 'too_small':
        return sizeMessage(
          known.origin,
          `${known.exact === true ? 'exactly' : known.inclusive === false ? 'more than' : 'at least'} ${known.minimum}`,
        );
      case 'too_big':
        return sizeMessage(
          known.origin,
          `${known.exact === true ? 'exactly' : known.inclusive === false ? 'less than' : 'at most'} ${known.maximum}`,
        );
      case 'invalid_value': {
        const values = known.values.map((value) => JSON.stringify(value)).join(', ');
        return `${known.input === undefined ? 'Required: ' : 'Must be '}${known.values.length === 1 ? values : `one of ${values}`}.`;
      }
      case 'invalid_format':
        return `Must be of the form ${known.pattern ?? known.format}.`;
      case 'not_multiple_of':
        return `Must be a multiple of ${known.divisor}.`;
      case 'invalid_key':
        return `The key is not valid: ${known.issues[0]?.message ?? 'see the documentation.'}`;
      case 'unrecognized_keys':
        return unknownMessage(known.keys[0] ?? '', part);
      case 'invalid_union':
      case 'invalid_element':
      case 'custom':
        return 'Is not valid here; the documentation of the operation shows what is.';
      default:
        return known satisfies never;
    }
  };

const bodyMessage = messageFor('body');
const queryMessage = messageFor('query');

function sizeMessage(origin: string, bound: string): string {
  if (origin === 'string') return `Must have ${bound} characters.`;
  if (origin === 'array' || origin === 'set') return `Must have ${bound} items.`;
  if (origin === 'object' || origin === 'record' || origin === 'map') return `Must have ${bound} keys.`;
  return `Must be ${bound}.`;
}

/** Deeper than any request of this API, far from what recursion could not bear. */
export const MAX_BODY_DEPTH = 20;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding these characters is the purpose.
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding these characters is the purpose.
const CONTROL_IN_NAME = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text could not be stored or shown, or null. PostgreSQL refuses NUL and half surrogate pairs, and with them a whole batch. */
export function textProblem(text: string, isName = false): { code: string; message: string } | null {
  if ((isName ? CONTROL_IN_NAME : CONTROL_IN_TEXT).test(text)) {
    return { code: 'control_character', message: `Must not hold control characters${isName ? '' : ' other than line breaks and tabs'}.` };
  }
  if (!text.isWellFormed()) return { code: 'lone_surrogate', message: 'Must be well-formed Unicode: it holds half of a surrogate pair.' };
  return null;
}

/** Walks parsed JSON before any schema sees it: texts and keys at any depth, the depth itself, and keys that poison prototypes. */
export function checkRawBody(body: unknown): Refusal | null {
  const errors: FieldError[] = [];
  const path: (string | number)[] = [];
  const poisoned = walk(body, path, errors);
  if (poisoned) return { code: 'malformed_json', detail: `The body holds a forbidden key at ${bodyPointer(path)}.` };
  return errors.length > 0 ? validationFailed(errors) : null;
}

/** Adds to `errors`; true when a forbidden key was found, `path` then being where. */
function walk(value: unknown, path: (string | number)[], errors: FieldError[]): boolean {
  if (typeof value === 'string') {
    const problem = textProblem(value);
    if (problem !== null) errors.push({ pointer: bodyPointer(path), ...problem });
    return false;
  }
  if (typeof value !== 'object' || value === null || errors.length >= MAX_FIELD_ERRORS) return false;
  if (path.length >= MAX_BODY_DEPTH) {
    errors.push({ pointer: bodyPointer(path), code: 'too_deep', message: `Must not nest deeper than ${MAX_BODY_DEPTH} levels.` });
    return false;
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      if (walk(value[i], path, errors)) return true;
      path.pop();
    }
    return false;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    path.push(key);
    if (key === '__proto__' || (key === 'constructor' && typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')))
      return true;
    const problem = textProblem(key, true);
    if (problem !== null)
      errors.push({ pointer: visible(bodyPointer(path)), code: problem.code, message: `The key ${lowerFirst(problem.message)}` });
    if (walk(inner, path, errors)) return true;
    path.pop();
  }
  return false;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A pointer made of a key that cannot be shown as it is. */
function visible(pointer: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding these characters is the purpose.
  return pointer.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}
