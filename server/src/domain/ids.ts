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
const values = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) values[ALPHABET.charCodeAt(i)] = i;
const HEX = '0123456789abcdef';
const hexValues = new Int8Array(128);
for (let i = 0; i < HEX.length; i++) hexValues[HEX.charCodeAt(i)] = i;
/** Every pair of base32 digits by its ten bits: ids are written on every answer, and pairs halve the work. */
const pairs = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
const DASH = 45;

/** `prj_01h455vb4pex5vsknk084sn02q` of a native UUID. The 128 bits are written as 26 digits of 5 bits, the first holding 3. */
export function encodeId(kind: IdKind, uuid: Uuid): string {
  let text = `${idPrefixes[kind]}_`;
  let bits = 0;
  let held = 2; // Two zero bits in front make 130 bits, a multiple of ten.
  for (let i = 0; i < uuid.length; i++) {
    const code = uuid.charCodeAt(i);
    if (code === DASH) continue;
    bits = (bits << 4) | (hexValues[code] as number);
    held += 4;
    if (held >= 10) {
      held -= 10;
      text += pairs[bits >> held];
      bits &= (1 << held) - 1;
    }
  }
  return text;
}

/** The native UUID of a public id, or null when the text is not an id of that kind. Exact form only: lower case, no look-alikes. */
export function decodeId(kind: IdKind, text: string): Uuid | null {
  const prefix = idPrefixes[kind];
  if (text.length !== prefix.length + 1 + LENGTH || !text.startsWith(prefix) || text[prefix.length] !== '_') return null;
  let uuid = '';
  let bits = 0;
  let held = 0;
  for (let i = 0; i < LENGTH; i++) {
    const value = values[text.charCodeAt(prefix.length + 1 + i)] ?? -1;
    if (value < 0) return null;
    if (i === 0) {
      if (value > 7) return null; // More than 128 bits.
      bits = value;
      held = 3;
      continue;
    }
    bits = (bits << 5) | value;
    held += 5;
    while (held >= 4) {
      held -= 4;
      uuid += HEX[(bits >> held) & 15];
      if (uuid.length === 8 || uuid.length === 13 || uuid.length === 18 || uuid.length === 23) uuid += '-';
      bits &= (1 << held) - 1;
    }
  }
  return uuid;
}

const byteText = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

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
      stamp = `${digits.slice(0, 8)}-${digits.slice(8)}`;
      stampedAt = last;
    }
    const sequence = `7${byteText[counter >> 8]?.[1]}${byteText[counter & 0xff]}`;
    const variant = `${byteText[0x80 | ((first >>> 24) & 0x3f)]}${byteText[(first >>> 16) & 0xff]}`;
    const tail =
      `${byteText[middle >> 8]}${byteText[middle & 0xff]}${byteText[last32 >>> 24]}` +
      `${byteText[(last32 >>> 16) & 0xff]}${byteText[(last32 >>> 8) & 0xff]}${byteText[last32 & 0xff]}`;
    return `${stamp}-${sequence}-${variant}-${tail}`;
  };
}
