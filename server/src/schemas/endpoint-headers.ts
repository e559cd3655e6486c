// The headers of its own that an endpoint may ask for, as a request names them: which names and values are let through.
// Never shows a value: those that were stored cannot be read again.

import { z } from 'zod';
import { MAX_HEADERS } from '../domain/endpoint-sending.ts';
import { wanted } from './text.ts';

export const MAX_HEADER_NAME_LENGTH = 64;
export const MAX_HEADER_VALUE_LENGTH = 1024;

/** Names that belong to HTTP, to the connection or to us. */
const RESERVED_NAMES = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'http2-settings',
  'accept-encoding',
  'user-agent',
  'date',
  'via',
  'forwarded',
  'x-real-ip',
  'metadata',
  'metadata-flavor',
]);
const RESERVED_PREFIXES = ['content-', 'webhook-', 'tranche-', 'proxy-', 'sec-', 'x-forwarded-', 'x-aws-ec2-metadata-'];
const RESERVED =
  'Host, User-Agent, Date, Accept-Encoding, names of the connection such as Transfer-Encoding, names of where a request came from, ' +
  'and all that begin with Content-, Webhook-, Tranche-, Proxy- or Sec-';

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED_NAMES.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const VALUE_PATTERN = `^[\\x21-\\x7e]([\\x20-\\x7e\\t]{0,${MAX_HEADER_VALUE_LENGTH - 2}}[\\x21-\\x7e])?$`;
const VALUE = `1 to ${MAX_HEADER_VALUE_LENGTH} visible ASCII characters, with spaces only in between`;

// The pattern is on the schema and not only here, so that the document says it too. No message repeats a value: it may be a credential.
const headerValue = z
  .string(wanted(VALUE))
  .regex(new RegExp(VALUE_PATTERN), { error: `Must be ${VALUE}.` })
  .meta({ minLength: 1, maxLength: MAX_HEADER_VALUE_LENGTH, pattern: VALUE_PATTERN });

function faultOfNames(names: readonly string[]): { readonly code: string; readonly message: string } | null {
  if (names.length > MAX_HEADERS) return { code: 'too_big', message: `Must be at most ${MAX_HEADERS} headers.` };
  for (const name of names) {
    if (!NAME.test(name)) {
      const message = `A header name has 1 to ${MAX_HEADER_NAME_LENGTH} letters, digits or any of !#$%&'*+-.^_\`|~.`;
      return { code: 'invalid_name', message };
    }
    if (isReservedHeader(name)) return { code: 'reserved_name', message: `${name} is set by the sender. Not allowed are ${RESERVED}.` };
  }
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    return { code: 'repeated_name', message: 'Must not name a header twice; names are the same in any case.' };
  return null;
}

/** Names are looked at before the values are: a hundred thousand wrong ones would otherwise become as many errors. */
function headersOf<Value extends z.ZodType>(value: Value, description: string) {
  const record = z
    .record(z.string(), value, wanted('an object of header names and their values'))
    .meta({ description, maxProperties: MAX_HEADERS, example: { Authorization: 'Bearer of-the-receiver' } });
  return z.preprocess((input, context) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
    const fault = faultOfNames(Object.keys(input));
    if (fault === null) return input;
    context.issues.push({ code: 'custom', params: { code: fault.code }, input, message: fault.message });
    return z.NEVER;
  }, record);
}

const ABOUT = `Up to ${MAX_HEADERS}. Kept encrypted; the values cannot be read again.`;

/** Headers of a new endpoint. */
export const endpointHeaders = headersOf(headerValue, `Headers of your own that every delivery carries. ${ABOUT}`);

/** A change of headers. */
export const endpointHeadersPatch = headersOf(
  headerValue.nullable(),
  `Merged into the headers: a string sets one, null removes it, others stay. ${ABOUT}`,
);
