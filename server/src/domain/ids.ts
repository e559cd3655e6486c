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
const PAIRS = LENGTH / 2;
const DASH = '-';
const DIGIT_BITS = 5;
const HIGHEST_FIRST_DIGIT = 7; // 26 digits hold 130 bits, and an id has 128.
const values = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) values[ALPHABET.charCodeAt(i)] = i;
const HEX = '0123456789abcdef';
const hexValues = new Int8Array(128);
for (let i = 0; i < HEX.length; i++) hexValues[HEX.charCodeAt(i)] = i;
/** Every pair of base32 digits by its ten bits, and every byte as two hex digits: ids are on every road, and pairs halve the work. */
const pairs = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> DIGIT_BITS]}${ALPHABET[bits & 31]}`);
const byteText = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** What the ids of each kind begin with. */
const starts = Object.fromEntries(Object.entries(idPrefixes).map(([kind, prefix]) => [kind, `${prefix}_`])) as Record<IdKind, string>;

// Both directions go through four words of 32 bits and put together texts of at most twelve characters before they join them. Those are
// plain text to the engine; longer sums are trees that have to be walked before they can be sent, which takes longer than all the rest. Sums
// of `+` and no templates: those ask each part whether it is text.

/** `prj_01h455vb4pex5vsknk084sn02q` of a native UUID. The 128 bits are written as 26 digits of 5 bits, the first holding 3. */
export function encodeId(kind: IdKind, uuid: Uuid): string {
  const a = wordAt(uuid, 0, 4);
  const b = wordAt(uuid, 9, 14);
  const c = wordAt(uuid, 19, 24);
  const d = wordAt(uuid, 28, 32);
  const head = starts[kind] + tenBits(a >>> 24) + tenBits(a >>> 14) + tenBits(a >>> 4) + tenBits(((a & 15) << 6) | (b >>> 26));
  const middle = tenBits(b >>> 16) + tenBits(b >>> 6) + tenBits(((b & 63) << 4) | (c >>> 28)) + tenBits(c >>> 18) + tenBits(c >>> 8);
  const tail = tenBits(((c & 255) << 2) | (d >>> 30)) + tenBits(d >>> 20) + tenBits(d >>> 10) + tenBits(d);
  return head + middle + tail;
}

/** The lower ten bits as two digits. */
const tenBits = (bits: number): string => pairs[bits & 1023] as string;

/** The 32 bits of four hex digits at one place and four at another: a UUID's text has dashes between. */
const wordAt = (uuid: Uuid, first: number, second: number): number => (fourAt(uuid, first) << 16) | fourAt(uuid, second);

const fourAt = (uuid: Uuid, at: number): number =>
  (hexAt(uuid, at) << 12) | (hexAt(uuid, at + 1) << 8) | (hexAt(uuid, at + 2) << 4) | hexAt(uuid, at + 3);

const hexAt = (uuid: Uuid, at: number): number => hexValues[uuid.charCodeAt(at)] as number;

/** The native UUID of a public id, or null when the text is not an id of that kind. Exact form only: lower case, no look-alikes. */
export function decodeId(kind: IdKind, text: string): Uuid | null {
  const start = starts[kind].length;
  if (text.length !== start + LENGTH || !text.startsWith(starts[kind])) return null;
  if (digitAt(text, start) > HIGHEST_FIRST_DIGIT) return null;
  for (let i = 0; i < PAIRS; i++) {
    const bits = pairAt(text, start + 2 * i);
    if (bits < 0) return null;
    read[i] = bits;
  }
  const of = (pair: number): number => read[pair] as number;
  const a = (of(0) << 24) | (of(1) << 14) | (of(2) << 4) | (of(3) >> 6);
  const b = ((of(3) & 63) << 26) | (of(4) << 16) | (of(5) << 6) | (of(6) >> 4);
  const c = ((of(6) & 15) << 28) | (of(7) << 18) | (of(8) << 8) | (of(9) >> 2);
  const d = ((of(9) & 3) << 30) | (of(10) << 20) | (of(11) << 10) | of(12);
  const first = hexOf(a >>> 16) + hexOf(a) + DASH;
  const second = hexOf(b >>> 16) + DASH + hexOf(b) + DASH;
  const third = hexOf(c >>> 16) + DASH + hexOf(c);
  return first + second + third + (hexOf(d >>> 16) + hexOf(d));
}

/** The pairs of the id that is being decoded. */
const read = new Uint16Array(PAIRS);

/** Negative where there is no digit. */
const digitAt = (text: string, at: number): number => values[text.charCodeAt(at)] ?? -1;

/** Ten bits; negative where one of the two is no digit. */
const pairAt = (text: string, at: number): number => (digitAt(text, at) << DIGIT_BITS) | digitAt(text, at + 1);

/** The lower 16 bits as four hex digits. */
const hexOf = (bits: number): string => (byteText[(bits >> 8) & 255] as string) + byteText[bits & 255];

/** Makes UUIDv7s that sort by creation, also within one millisecond (the 12-bit counter of RFC 9562 §6.2, method 1). */
export function createIdGenerator(now: () => number, random: (bytes: Uint8Array) => void): () => Uuid {
  const POOL = 512;
  const pool = new Uint8Array(POOL * 12);
  const view = new DataView(pool.buffer);
  let used = POOL;
  let last = 0;
  let counter = 0;
  let stamp = '';
  let stampedAt = -1;
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
    if (last !== stampedAt) {
      const digits = last.toString(16).padStart(12, '0');
      stamp = `${digits.slice(0, 8)}-${digits.slice(8)}-`;
      stampedAt = last;
    }
    // The version and the counter, the variant and the random rest; put together as encodeId does.
    const head = hexOf(0x7000 | counter) + DASH + hexOf(0x8000 | ((first >>> 16) & 0x3fff)) + DASH;
    const tail = hexOf(middle) + hexOf(last32 >>> 16) + hexOf(last32);
    return stamp + head + tail;
  };
}
