// Short texts that wait for a while, as bytes in one piece of memory.
// A text that is kept itself is old by the time it is let go, and only a full collection takes it away. Knows nothing of what they say.

const WIDTH = 48;

/** So many places, each for one text of at most 48 characters of ASCII; what is longer is cut off there. */
export class ShortTexts {
  readonly #bytes: Buffer;
  readonly #lengths: Uint8Array;

  constructor(places: number) {
    this.#bytes = Buffer.allocUnsafeSlow(places * WIDTH);
    this.#lengths = new Uint8Array(places);
  }

  put(place: number, text: string): void {
    const length = Math.min(text.length, WIDTH);
    const start = place * WIDTH;
    this.#lengths[place] = length;
    for (let i = 0; i < length; i++) this.#bytes[start + i] = text.charCodeAt(i);
  }

  at(place: number): string {
    return this.#bytes.toString('latin1', place * WIDTH, place * WIDTH + (this.#lengths[place] as number));
  }
}
