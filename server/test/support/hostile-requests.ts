// Valid requests of an operation of the OpenAPI document, broken at random: for property tests.
// Makes requests only; what may be answered is the test's to say.

import fc from 'fast-check';
import type { Json } from './app.ts';
import { addressOf, exampleOf, type Operation } from './contract.ts';

/** What spoils, or only seems to spoil, a text that is otherwise good. */
// biome-ignore format: a table reads better in lines of one kind.
const pieces = ['\u0000', '\ud800', '\udfff', '\u001b[31m', '\u0085', '\u2028', '\u202e', '\uffff', '\ufeff', '\n', '\t', ' ', "'", '"', '\\'];
const piece = fc.constantFrom(...pieces);

// biome-ignore format: a table reads better in lines of one kind.
const odd = [
  '', 'a\u0000b', '__proto__', 'constructor', 'toString', 'null', 'NaN', "'; drop table projects; --", '\u0024{7*7}', '%00', '%s%n',
  '../../etc/passwd', '\r\nX: y', '1e400', 'İ', 'ß', 'ﬃ', '१२३', '2026-02-30', 'http://[', 'https://a b',
];
const long = ['x'.repeat(256), 'x'.repeat(5001), 'x'.repeat(100_000), '📐'.repeat(300)];
const nasty = fc.oneof(
  piece,
  fc.constantFrom(...odd),
  fc.constantFrom(...long),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 20 }),
);
const nested = (depth: number): Json => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: nasty },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Json[]>(null, true, false, 0, -0, -1, 0.1, 1, 100, 1e21, 2 ** 53, 999_999_999_999, 1_000_000_000_000, 1e-7),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Json[]>([], {}, [[]], [{}], [null], { a: {} }, nested(19), nested(25), Array(10_000).fill(1), { length: 1 }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Json[]>('USD', 'usd', 'submitted', 'approved', 'archived', 'manual', 'disabled', '2026-03-31'),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Every place in a body: a path to a value within it. */
function placesOf(body: Json, path: (string | number)[] = []): (string | number)[][] {
  if (typeof body !== 'object' || body === null) return [path];
  return [path, ...Object.entries(body).flatMap(([key, inner]) => placesOf(inner, [...path, key]))];
}

function replaceAt(body: Json, path: readonly (string | number)[], change: (value: Json) => Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return change(body);
  const copy: Json = Array.isArray(body) ? [...body] : { ...body };
  copy[first] = replaceAt(copy[first], rest, change);
  return copy;
}

// biome-ignore format: a table reads better in lines of one kind.
const literals = [
  '1e400', '-0', '0.1', '1e2', '1E+2', '01', '+1', '.5', '1.', 'NaN', 'Infinity', '0x10', '1_000', '100.00000000000000001', '9'.repeat(400),
];

/** Ways to break a body, as text. */
function brokenBody(example: Json): fc.Arbitrary<string | Buffer> {
  const text = JSON.stringify(example);
  const place = fc.constantFrom(...placesOf(example));
  const strings = placesOf(example).filter((path) => typeof path.reduce((at, key) => at[key], example) === 'string');
  const texts = strings.length > 0 ? strings : [['text']];
  const own: [string, Json][] = Object.entries(example);
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(fc.constantFrom(...texts), piece)
        .map(([path, end]) => JSON.stringify(replaceAt(example, path, (at) => `${at ?? 'name'}${end}`))),
    },
    { weight: 6, arbitrary: fc.tuple(place, value).map(([path, inner]) => JSON.stringify(replaceAt(example, path, () => inner))) },
    {
      weight: 3,
      arbitrary: fc.tuple(place, nasty, value).map(([path, key, inner]) => {
        const added = replaceAt(example, path, (at) =>
          typeof at === 'object' && at !== null && !Array.isArray(at) ? { ...at, '~': inner } : { '~': inner },
        );
        return JSON.stringify(added).replace('"~"', JSON.stringify(key));
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(place, fc.constantFrom(...literals))
        .map(([path, literal]) => JSON.stringify(replaceAt(example, path, () => '~~')).replace('"~~"', literal)),
    },
    { weight: 2, arbitrary: fc.nat(text.length).map((end) => text.slice(0, end)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.nat(text.length), fc.uint8Array({ maxLength: 4 }))
        .map(([at, bytes]) => Buffer.concat([Buffer.from(text.slice(0, at)), bytes, Buffer.from(text.slice(at))])),
    },
    {
      weight: 1,
      arbitrary:
        own.length === 0
          ? fc.constant('{"a":1,"a":1}')
          : fc.constantFrom(...own).map(([key, inner]) => text.replace('{', `{${JSON.stringify(key)}:${JSON.stringify(inner)},`)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        `\ufeff${text}`,
        ` ${text}\n`,
        `[${text}]`,
        `${text},`,
        `/**/${text}`,
        `'${text}'`,
        '{'.repeat(100_000),
        '"'.repeat(999),
        '\\',
        '{}',
      ),
    },
  );
}

const headerValue = fc.oneof(
  fc.constantFrom(
    '',
    '"',
    '""',
    '"a',
    '*',
    'W/"1"',
    '"1"',
    '"2"',
    '1',
    '-1',
    'null',
    'a,b',
    'a b',
    'x'.repeat(255),
    'x'.repeat(256),
    '"\\"',
    '%00',
    '\u00ff',
    '0x1',
  ),
  fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\t\x20-\x7e]/g, '')),
);
const headers = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'idempotency-key',
        'if-match',
        'if-none-match',
        'request-id',
        'x-http-method-override',
        'accept',
        'cookie',
        'range',
        'origin',
      ),
      headerValue,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('content-type', 'content-encoding', 'authorization', 'expect', 'host'), headerValue),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { 'content-type': 'application/json;charset=utf-16' },
      { 'content-encoding': 'gzip' },
      { 'content-type': 'multipart/form-data' },
      { accept: 'text/html' },
    ),
  },
);
const encoded = nasty.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 8000));
const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'limit',
          'starting_after',
          'status',
          'client_id',
          'metadata[a]',
          'created_after',
          'after_seq',
          '__proto__',
          'x',
          'limit[]',
          '',
        ),
        encoded,
      )
      .map((p) => `?${p.join('=')}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '?',
      '?&',
      '?=',
      '?limit=1&limit=1',
      '?%zz=1',
      '?a=%c3%28',
      '?limit=%00',
      '?__proto__=x',
      '?limit',
      '?%5f%5fproto%5f%5f[x]=1',
      '?metadata[__proto__]=x',
      `?${'a=1&'.repeat(2000)}`,
    ),
  },
);
const strangeId = fc.oneof(
  encoded,
  fc.constantFrom(
    '%zz',
    '%',
    '%c3%28',
    '%2e%2e',
    '..',
    '%252e',
    'x'.repeat(9000),
    'prj_',
    'prj_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    '%F0%9F%92%A9',
  ),
);

export interface Attempt {
  readonly path: string;
  readonly raw?: string | Buffer | undefined;
  readonly headers: Record<string, string>;
}

/** A request of the operation with something broken in it. */
export function attemptOn(operation: Operation, ids: Record<string, string>): fc.Arbitrary<Attempt> {
  const address = addressOf(operation, ids);
  const strange = strangeId.map((id) => (operation.prefix === null ? `${address}/${id}` : addressOf(operation, ids, id)));
  const good: Attempt = { path: address, headers: {} };
  const body = exampleOf(operation) ?? {};
  const withBody: Attempt = operation.method === 'GET' ? good : { ...good, raw: JSON.stringify(body) };
  // One thing is broken at a time, or the first would hide the others; now and then all of them.
  const broken = {
    path: fc.oneof({ weight: 1, arbitrary: fc.constant(address) }, { weight: 1, arbitrary: strange }),
    query: query.map((text) => `${address}${text}`),
  };
  return fc.oneof(
    {
      weight: operation.body === null ? 1 : 10,
      arbitrary: brokenBody(body).map((raw) => (operation.method === 'GET' ? good : { ...good, raw })),
    },
    { weight: 2, arbitrary: headers.map((sent) => ({ ...withBody, headers: sent })) },
    { weight: 2, arbitrary: fc.oneof(broken.path, broken.query).map((path) => ({ ...withBody, path })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(broken.path, query, headers, brokenBody(body))
        .map(([path, text, sent, raw]) => ({ path: path + text, headers: sent, raw })),
    },
  );
}
