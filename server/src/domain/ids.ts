// Identifiers: a prefix that names the kind and a UUIDv7 in base32 (TypeID). Inside, an id is the native UUID as text.
// Pure: makes no ids by itself; the generator is handed its clock and its randomness. Source: DESIGN §1.

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

export const idPrefixes = {
  workspace: 'wsp',
  project: 'prj',
  milestone: 'mil',
  payment: 'pay',
  invoice: 'inv',
  event: 'evt',
  api_key: 'key',
  webhook_endpoint: 'whe',
  delivery: 'dlv',
  webhook_repair: 'whr',
  request_log_entry: 'rle',
  person: 'per',
  session: 'ses',
  member: 'mem',
  invitation: 'ivt',
  audit_entry: 'aud',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** A UUID as PostgreSQL prints it: lower case, 36 characters. */
export type Uuid = string;

const LENGTH = 26;
const HIGHEST_FIRST_DIGIT = 7; // 26 digits hold 130 bits, and an id has 128.
const DASH = 45;
const HEX = '0123456789abcdef';
const codesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const digitCodes = codesOf(ALPHABET);
const hexCodes = codesOf(HEX);
/** What a character stands for, by its code. */
const valuesOf = (codes: Uint8Array): Int8Array => {
  const values = new Int8Array(128).fill(-1);
  for (const [value, code] of codes.entries()) values[code] = value;
  return values;
};
const digitValues = valuesOf(digitCodes);
const hexValues = valuesOf(hexCodes);

/** What the ids of each kind begin with. */
const starts = Object.fromEntries(Object.entries(idPrefixes).map(([kind, prefix]) => [kind, `${prefix}_`])) as Record<IdKind, string>;

// Ids are on every road. Both directions go through four words of 32 bits, and one call makes the text of all its characters: put together
// of parts, it would leave a dozen short-lived texts behind, and be a tree that has to be walked before it can be sent.

/** `prj_01h455vb4pex5vsknk084sn02q` of a native UUID. The 128 bits are written as 26 digits of 5 bits, the first holding 3. */
export function encodeId(kind: IdKind, uuid: Uuid): string {
  const start = starts[kind];
  const a = wordAt(uuid, 0, 4);
  const b = wordAt(uuid, 9, 14);
  const c = wordAt(uuid, 19, 24);
  const d = wordAt(uuid, 28, 32);
  // biome-ignore format: a line a word, and what it shares with the next one
  return String.fromCharCode(
    start.charCodeAt(0), start.charCodeAt(1), start.charCodeAt(2), start.charCodeAt(3),
    digit(a >>> 29), digit(a >>> 24), digit(a >>> 19), digit(a >>> 14), digit(a >>> 9), digit(a >>> 4), digit((a << 1) | (b >>> 31)),
    digit(b >>> 26), digit(b >>> 21), digit(b >>> 16), digit(b >>> 11), digit(b >>> 6), digit(b >>> 1), digit((b << 4) | (c >>> 28)),
    digit(c >>> 23), digit(c >>> 18), digit(c >>> 13), digit(c >>> 8), digit(c >>> 3), digit((c << 2) | (d >>> 30)),
    digit(d >>> 25), digit(d >>> 20), digit(d >>> 15), digit(d >>> 10), digit(d >>> 5), digit(d),
  );
}

/** The code of the digit that the lower five bits are. */
const digit = (bits: number): number => digitCodes[bits & 31] as number;

/** The 32 bits of four hex digits at one place and four at another: a UUID's text has dashes between. */
const wordAt = (uuid: Uuid, first: number, second: number): number => (fourAt(uuid, first) << 16) | fourAt(uuid, second);

const fourAt = (uuid: Uuid, at: number): number =>
  (hexAt(uuid, at) << 12) | (hexAt(uuid, at + 1) << 8) | (hexAt(uuid, at + 2) << 4) | hexAt(uuid, at + 3);

const hexAt = (uuid: Uuid, at: number): number => hexValues[uuid.charCodeAt(at)] as number;

/** The native UUID of a public id, or null when the text is not an id of that kind. Exact form only: lower case, no look-alikes. */
export function decodeId(kind: IdKind, text: string): Uuid | null {
  const start = starts[kind].length;
  if (text.length !== start + LENGTH || !text.startsWith(starts[kind])) return null;
  for (let i = 0; i < LENGTH; i++) {
    const value = digitValues[text.charCodeAt(start + i)] ?? -1;
    if (value < 0) return null;
    read[i] = value;
  }
  if (of(0) > HIGHEST_FIRST_DIGIT) return null;
  const a = (of(0) << 29) | (of(1) << 24) | (of(2) << 19) | (of(3) << 14) | (of(4) << 9) | (of(5) << 4) | (of(6) >> 1);
  const b = (of(6) << 31) | (of(7) << 26) | (of(8) << 21) | (of(9) << 16) | (of(10) << 11) | (of(11) << 6) | (of(12) << 1) | (of(13) >> 4);
  const c = (of(13) << 28) | (of(14) << 23) | (of(15) << 18) | (of(16) << 13) | (of(17) << 8) | (of(18) << 3) | (of(19) >> 2);
  const d = (of(19) << 30) | (of(20) << 25) | (of(21) << 20) | (of(22) << 15) | (of(23) << 10) | (of(24) << 5) | of(25);
  return uuidOf(a, b, c, d);
}

/** The digits of the id that is being decoded. */
const read = new Uint8Array(LENGTH);
const of = (place: number): number => read[place] as number;

// biome-ignore format: a line a word
const uuidOf = (a: number, b: number, c: number, d: number): Uuid =>
  String.fromCharCode(
    hex(a >>> 28), hex(a >>> 24), hex(a >>> 20), hex(a >>> 16), hex(a >>> 12), hex(a >>> 8), hex(a >>> 4), hex(a), DASH,
    hex(b >>> 28), hex(b >>> 24), hex(b >>> 20), hex(b >>> 16), DASH, hex(b >>> 12), hex(b >>> 8), hex(b >>> 4), hex(b), DASH,
    hex(c >>> 28), hex(c >>> 24), hex(c >>> 20), hex(c >>> 16), DASH, hex(c >>> 12), hex(c >>> 8), hex(c >>> 4), hex(c),
    hex(d >>> 28), hex(d >>> 24), hex(d >>> 20), hex(d >>> 16), hex(d >>> 12), hex(d >>> 8), hex(d >>> 4), hex(d),
  );

/** The code of the hex digit that the lower four bits are. */
const hex = (bits: number): number => hexCodes[bits & 15] as number;

/** Makes UUIDv7s that sort by creation, also within one millisecond (the 12-bit counter of RFC 9562 §6.2, method 1). */
export function createIdGenerator(now: () => number, random: (bytes: Uint8Array) => void): () => Uuid {
  const POOL = 512;
  const pool = new Uint8Array(POOL * 12);
  const view = new DataView(pool.buffer);
  let used = POOL;
  let last = 0;
  let counter = 0;
  return () => {
    if (used === POOL) {
      random(pool);
      used = 0;
    }
    const first = view.getUint32(used * 12);
    const middle = view.getUint16(used * 12 + 4);
    const last32 = view.getUint32(used * 12 + 8);
    used += 1;
    const time = now();
    if (time > last) {
      last = time;
      counter = first & 0x7ff; // Starts in the lower half, so that a burst has room.
    } else if (++counter > 0xfff) {
      last += 1; // The burst outran the millisecond: borrow the next one rather than repeat.
      counter = 0;
    }
    // 48 bits of time, the version and the counter, the variant and the random rest.
    const low = ((last & 0xffff) << 16) | 0x7000 | counter;
    return uuidOf(Math.floor(last / 65_536), low, ((0x8000 | ((first >>> 16) & 0x3fff)) << 16) | middle, last32);
  };
}
