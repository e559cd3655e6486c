// HMAC-SHA256 in plain JavaScript: WebCrypto has it only as a promise, and a webhook should be verified in one expression everywhere.
// Only for signatures of webhooks. Its time depends on the length of what is hashed, not on its bytes.

const BLOCK_BYTES = 64;

/** The first 32 bits behind the point of a root of each of the first primes, as FIPS 180-4 defines the constants. */
function fractions(count: number, exponent: number): Uint32Array {
  const words = new Uint32Array(count);
  for (let candidate = 2, found = 0; found < count; candidate++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) isPrime = false;
    if (isPrime) words[found++] = (candidate ** exponent % 1) * 2 ** 32;
  }
  return words;
}

// Made at the first use: a module that does something when it is loaded could not be left out of a bundle.
let constants: { readonly start: Uint32Array; readonly rounds: Uint32Array } | null = null;

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

export function sha256(message: Uint8Array): Uint8Array {
  constants ??= { start: fractions(8, 1 / 2), rounds: fractions(64, 1 / 3) };
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(padded.length - 4, message.length << 3);
  const state = constants.start.slice();
  const schedule = new Uint32Array(64);
  for (let offset = 0; offset < padded.length; offset += BLOCK_BYTES) {
    for (let word = 0; word < 16; word++) schedule[word] = view.getUint32(offset + 4 * word);
    compress(state, schedule, constants.rounds);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, index) => {
    out.setUint32(4 * index, word);
  });
  return digest;
}

function compress(state: Uint32Array, w: Uint32Array, rounds: Uint32Array): void {
  for (let t = 16; t < 64; t++) {
    const early = w[t - 15] as number;
    const late = w[t - 2] as number;
    const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const small1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w[t] = (w[t - 16] as number) + small0 + (w[t - 7] as number) + small1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + big1 + ((e & f) ^ (~e & g)) + (rounds[t] as number) + (w[t] as number)) | 0;
    const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] as number) + word;
  });
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key);
  const inner = new Uint8Array(BLOCK_BYTES + message.length);
  inner.set(block.map((byte) => byte ^ 0x36));
  inner.set(message, BLOCK_BYTES);
  const outer = new Uint8Array(BLOCK_BYTES + 32);
  outer.set(block.map((byte) => byte ^ 0x5c));
  outer.set(sha256(inner), BLOCK_BYTES);
  return sha256(outer);
}
