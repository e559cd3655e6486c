// Stands where pg expects a socket: hands the bytes that pg writes to PGlite and pg the bytes that come back.
// So both databases share one client: the same conversions, prepared statements and pipelining, several times faster than PGlite's own query().

import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';

export class PgliteStream extends Duplex {
  readonly #pglite: PGlite;
  #pending: Buffer[] = [];

  constructor(pglite: PGlite) {
    super();
    this.#pglite = pglite;
  }

  /** What pg calls on a socket before it writes. */
  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    // Data is pushed as it comes: it is all there when a message returns.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#enqueue(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    for (const { chunk } of chunks) this.#enqueue(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  /** Not at once: a statement must be known as sent before the answer to it arrives. */
  #enqueue(chunk: Buffer): void {
    if (this.#pending.push(chunk) === 1) queueMicrotask(() => this.#run());
  }

  #run(): void {
    const pending = this.#pending;
    this.#pending = [];
    if (this.destroyed) return;
    const message = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending);
    const answer: Buffer[] = [];
    // The bytes are a view of the engine's memory and must be copied. All of them have arrived when the call returns; it is asynchronous
    // in name only. What it throws is the end of the engine, as a lost connection is.
    this.#pglite
      .execProtocolRawStream(message, { syncToFs: false, onRawData: (bytes) => answer.push(Buffer.from(bytes)) })
      .catch((error: Error) => this.destroy(error));
    if (answer.length > 0) this.push(answer.length === 1 ? answer[0] : Buffer.concat(answer));
  }
}
