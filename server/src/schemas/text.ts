// The types of single fields that resources and request bodies are made of: texts, ids, times, money, metadata, addresses.
// Says what is right in words a client can act on; knows no resource.

import { z } from 'zod';
import { MAX_METADATA_KEYS } from '../domain/editing.ts';
import { decodeId, encodeId, type IdKind, idPrefixes, type Uuid } from '../domain/ids.ts';
import { MAX_AMOUNT_MINOR, MIN_AMOUNT_MINOR, parseCurrency } from '../domain/money.ts';

export const MAX_NAME_LENGTH = 255;
export const MAX_METADATA_KEY_LENGTH = 40;
export const MAX_METADATA_VALUE_LENGTH = 500;
export const MAX_URL_LENGTH = 2048;

/** One message for a value that is missing and for one that is of the wrong type. */
export function wanted(what: string): { error: (issue: { input?: unknown }) => string } {
  return { error: (issue) => (issue.input === undefined ? `Required: ${what}.` : `Must be ${what}.`) };
}

/** Characters as people and JSON Schema count them: code points, not UTF-16 units. Counts only where the answer is in doubt. */
function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let count = 0;
  for (const _ of text) if (++count > max) return true;
  return false;
}

interface TextKind {
  /** What the text is made of, for the document and for the check alike. */
  readonly pattern: string;
  readonly forbidden: string;
}
const LINE: TextKind = { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$', forbidden: 'control characters or line breaks' };
const PARAGRAPH: TextKind = {
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$',
  forbidden: 'control characters other than line breaks and tabs',
};

/** PostgreSQL refuses NUL and lone surrogates, and with them the whole batch that a command is part of: nothing of the kind gets in. */
function boundedText(kind: TextKind, min: number, max: number) {
  const allowed = new RegExp(kind.pattern);
  const what = `a text of ${min > 0 ? `${min} to` : 'up to'} ${max} characters`;
  return z
    .string(wanted(what))
    .check((check) => {
      const text = check.value;
      if (text.length < min) {
        check.issues.push({ code: 'too_small', origin: 'string', minimum: min, inclusive: true, input: text, message: `Must be ${what}.` });
      } else if (isLonger(text, max)) {
        check.issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: text, message: `Must be ${what}.` });
      } else if (!allowed.test(text)) {
        check.issues.push({ code: 'invalid_format', format: 'text', input: text, message: `Must not hold ${kind.forbidden}.` });
      } else if (!text.isWellFormed()) {
        check.issues.push({
          code: 'invalid_format',
          format: 'text',
          input: text,
          message: 'Must be well-formed Unicode: it holds half of a surrogate pair.',
        });
      }
    })
    .meta({ ...(min > 0 ? { minLength: min } : {}), maxLength: max, pattern: kind.pattern });
}

/** One line of 1 to `max` characters. */
export const text = (max: number) => boundedText(LINE, 1, max);

/** Up to `max` characters, with line breaks and tabs. `min` 1 where an empty one would say nothing. */
export const paragraph = (max: number, min: 0 | 1 = 0) => boundedText(PARAGRAPH, min, max);

/** A name, a client's id, a payee's id. */
export const name = text(MAX_NAME_LENGTH);

// The ids of all examples are of this moment, so that documents made from them do not change by themselves.
const EXAMPLE_PREFIX = '01993c5a-8f00-7000-8000-0000000000';

/** A made-up id for examples; another `n` gives another id. */
export function exampleId(kind: IdKind, n = 1): string {
  return encodeId(kind, EXAMPLE_PREFIX + n.toString(16).padStart(2, '0'));
}

/** An id in a response. */
export function idField(kind: IdKind, description?: string) {
  return z.string().meta({
    ...(description === undefined ? {} : { description }),
    pattern: `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
    example: exampleId(kind),
  });
}

/** An id in a query: decoded to the native UUID; one of another kind or form is a validation error. */
export function idFilter(kind: IdKind) {
  const what = `the id of ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind.replace('_', ' ')}, such as ${exampleId(kind)}`;
  return z
    .string(wanted(what))
    .transform((text, context): Uuid => {
      const id = decodeId(kind, text);
      if (id !== null) return id;
      context.issues.push({ code: 'invalid_format', format: `${kind}_id`, input: text, message: `Must be ${what}.` });
      return z.NEVER;
    })
    .meta({ pattern: `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
}

/** A moment in a response: RFC 3339, UTC, with milliseconds. */
export const timestamp = (description: string) =>
  z.string().meta({ format: 'date-time', description, example: '2026-03-02T09:30:00.000Z' });

const dateTime = z.iso.datetime({ offset: true });
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const FIRST_MS = Date.UTC(1970, 0, 1);
const MOMENT = 'a time of RFC 3339 with an offset, such as 2026-03-02T09:30:00Z';

/** A moment in a request: RFC 3339 with any offset, of the years 1970 to 9999. */
export const moment = z
  .string(wanted(MOMENT))
  .transform((text, context): Date => {
    const date = new Date(dateTime.safeParse(text).success ? text : Number.NaN);
    if (date.getTime() >= FIRST_MS && date.getTime() <= LAST_MS) return date;
    context.issues.push({ code: 'invalid_format', format: 'datetime', input: text, message: `Must be ${MOMENT}.` });
    return z.NEVER;
  })
  .meta({ format: 'date-time' });

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

function isCalendarDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  // Counted here: a project comes with a day for each of its milestones, and to make a date of each is a hundredth of all its time.
  const last = month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  return year >= 1970 && day >= 1 && day <= last;
}

const DAY = 'a day of the calendar from 1970 on, such as 2026-03-31';

/** A calendar day, `YYYY-MM-DD`, that exists. */
export const calendarDay = z
  .string(wanted(DAY))
  .refine(isCalendarDay, { error: `Must be ${DAY}.` })
  .meta({ format: 'date' });

const AMOUNT = `an integer in minor units, for example 150000 for 1500.00 USD, from ${MIN_AMOUNT_MINOR} to ${MAX_AMOUNT_MINOR}`;

/** An integer of JSON within bounds. One check, so that a value that is wrong in two ways is still one error. */
export function integerBetween(minimum: number, maximum: number, what: string) {
  return z
    .number(wanted(what))
    .check((check) => {
      const input = check.value;
      const message = `Must be ${what}.`;
      if (input < minimum) check.issues.push({ code: 'too_small', origin: 'number', minimum, inclusive: true, input, message });
      else if (input > maximum) check.issues.push({ code: 'too_big', origin: 'number', maximum, inclusive: true, input, message });
      else if (!Number.isInteger(input)) check.issues.push({ code: 'invalid_type', expected: 'int', input, message });
    })
    .meta({ type: 'integer', minimum, maximum });
}

/** Money in a request: an integer of JSON, in minor units. A bigint from here on. */
export const amount = integerBetween(Number(MIN_AMOUNT_MINOR), Number(MAX_AMOUNT_MINOR), AMOUNT)
  .transform((number) => BigInt(number))
  .meta({ description: 'In minor units of the currency: 150000 is 1500.00 USD or 150000 JPY.', format: 'int64', example: 150000 });

/** Money in a response. */
export const amountField = (description: string) =>
  z.number().meta({ type: 'integer', format: 'int64', minimum: 0, maximum: Number(MAX_AMOUNT_MINOR), description, example: 150000 });

/** A whole number in a response that counts something: never negative, far below 2^53. */
export const countField = (description: string, minimum: 0 | 1 = 0) => z.number().meta({ type: 'integer', minimum, description });

const CURRENCY = 'a currency code of ISO 4217, such as USD';

/** A currency in a request: any case in, upper case from here on. */
export const currency = z
  .string(wanted(CURRENCY))
  .transform((text, context): string => {
    // Checked for plain letters first: some others become ASCII letters when upper-cased.
    const code = /^[A-Za-z]{3}$/.test(text) ? parseCurrency(text) : null;
    if (code !== null) return code;
    context.issues.push({ code: 'invalid_format', format: 'currency', input: text, message: `Must be ${CURRENCY}.` });
    return z.NEVER;
  })
  .meta({ description: 'A currency code of ISO 4217, in any case.', pattern: '^[A-Za-z]{3}$', example: 'USD' });

/** A currency in a response. */
export const currencyField = (description = 'The currency, a code of ISO 4217.') =>
  z.string().meta({ description, pattern: '^[A-Z]{3}$', example: 'USD' });

const metadataKey = text(MAX_METADATA_KEY_LENGTH);
export const metadataValue = paragraph(MAX_METADATA_VALUE_LENGTH);
const METADATA_KEY_MESSAGE = `Metadata keys have 1 to ${MAX_METADATA_KEY_LENGTH} characters, none of them a control character.`;
const TOO_MANY_KEYS = `Metadata holds up to ${MAX_METADATA_KEYS} keys.`;

/** Why an object cannot be metadata, apart from its values; null when it can. Shared with the `metadata[key]` filters of a query. */
export function metadataKeyProblem(keys: readonly string[]): string | null {
  if (keys.length > MAX_METADATA_KEYS) return TOO_MANY_KEYS;
  return keys.every((key) => metadataKey.safeParse(key).success) ? null : METADATA_KEY_MESSAGE;
}

/** The number of keys is looked at before the keys: a hundred thousand wrong ones would otherwise become as many errors. */
function metadataOf<Value extends z.ZodType>(value: Value, description: string) {
  const record = z
    .record(metadataKey, value, {
      error: (issue) => (issue.code === 'invalid_key' ? METADATA_KEY_MESSAGE : 'Must be an object of strings.'),
    })
    .meta({ description, maxProperties: MAX_METADATA_KEYS, example: { order: 'A-1001' } });
  return z.preprocess((input, context) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input) || Object.keys(input).length <= MAX_METADATA_KEYS) return input;
    context.issues.push({ code: 'too_big', origin: 'object', maximum: MAX_METADATA_KEYS, inclusive: true, input, message: TOO_MANY_KEYS });
    return z.NEVER;
  }, record);
}

/** Metadata of something new. */
export const metadata = metadataOf(metadataValue, 'Your own data: up to 50 keys of up to 40 characters with string values of up to 500.');

/** A change of metadata: a string sets a key, null deletes it, keys not named stay. */
export const metadataPatch = metadataOf(
  metadataValue.nullable(),
  'Merged into the metadata: a string sets a key, null deletes it, other keys stay. Up to 50 keys in the result.',
);

/** Metadata in a response. */
export const metadataField = z.record(z.string(), z.string()).meta({ description: 'Your own data.', example: { order: 'A-1001' } });

const URL_TEXT = `an absolute http or https URL of up to ${MAX_URL_LENGTH} characters, without user name and password`;

function isWebAddress(address: string): boolean {
  // The URL parser forgives much (spaces around, backslashes, slashes too many, an empty user name): ask for the plain form first.
  if (!/^https?:\/\/[^\s\\/?#@]+([/?#][^\s\\]*)?$/i.test(address)) return false;
  const url = URL.canParse(address) ? new URL(address) : null;
  return url !== null && url.hostname !== '' && url.username === '' && url.password === '';
}

/** An http or https address. Whether it may be called is decided where it is called. */
export const webAddress = text(MAX_URL_LENGTH)
  .refine(isWebAddress, { error: `Must be ${URL_TEXT}.`, abort: true })
  .meta({ format: 'uri', minLength: 1, maxLength: MAX_URL_LENGTH, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' });

/** A body that may be left out, where all its fields are optional. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === undefined || value === null ? {} : value), schema);
}

/** At least one of a closed set of words, none of them twice. The count is looked at before the words. */
export function setOf<Word extends z.ZodType>(word: Word, size: number, what: string) {
  const error = `Must name at least one ${what}, and none of them twice.`;
  return z
    .array(word, wanted(`a list of ${what}s`))
    .max(size, { error })
    .refine((words) => words.length > 0 && new Set(words).size === words.length, { error })
    .meta({ minItems: 1, uniqueItems: true });
}
