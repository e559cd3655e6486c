// One kept-alive connection of the load generator: writes one prepared request at a time and reads where its answer ends.
// Understands of HTTP what these servers send: a status line, headers, a body with a length. Times nothing and counts nothing.

import { connect, type Socket } from 'node:net';

export interface AnswerHead {
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

export interface WireEvents {
  /** The whole answer has come; the connection is free unless it closes. */
  onAnswer(wire: Wire, head: AnswerHead): void;
  /** The connection is gone. */
  onGone(wire: Wire): void;
}

const READ_BYTES = 64 * 1024;
/** More than any of these servers sends before the body. */
const MAX_HEAD_BYTES = 32 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** All connections read into the same memory: what was read is looked at before anything else happens. */
const memory = Buffer.alloc(READ_BYTES);

export class Wire {
  readonly #events: WireEvents;
  readonly #socket: Socket;
  #held: Buffer | null = null;
  #bodyLeft = 0;
  #head: (AnswerHead & { readonly closes: boolean }) | null = null;
  isOpen = false;
  /** What the owner hangs on the request under way. */
  intendedAtMs = 0;
  sentAtMs = 0;
  isBusy = false;

  constructor(port: number, events: WireEvents, onOpen: (error: Error | null) => void) {
    this.#events = events;
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: memory,
        callback: (bytes) => {
          this.#read(memory.subarray(0, bytes));
          return true;
        },
      },
    });
    this.#socket.once('connect', () => {
      this.isOpen = true;
      onOpen(null);
    });
    this.#socket.on('error', (error) => {
      if (!this.isOpen) onOpen(error);
    });
    this.#socket.on('close', () => {
      const was = this.isOpen;
      this.isOpen = false;
      if (was) this.#events.onGone(this);
    });
  }

  send(request: Buffer): void {
    this.isBusy = true;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    if (this.#head === null) {
      // Copied, since the memory is everybody's; this is rare, as an answer seldom comes in two pieces.
      const text = this.#held === null ? rest : Buffer.concat([this.#held, rest]);
      const end = text.indexOf(HEAD_END);
      if (end === -1) {
        if (text.length > MAX_HEAD_BYTES) this.close();
        else this.#held = Buffer.from(text);
        return;
      }
      this.#held = null;
      const head = text.toString('latin1', 0, end + 2);
      const status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      this.#head = {
        status,
        hasRetryAfter: status === 503 && /\r\nretry-after:/i.test(head),
        closes: /\r\nconnection: *close/i.test(head),
      };
      this.#bodyLeft = Number(length ?? 0);
      rest = text.subarray(end + HEAD_END.length);
    }
    this.#bodyLeft -= rest.length;
    if (this.#bodyLeft > 0) return;
    const head = this.#head;
    this.#head = null;
    this.isBusy = false;
    if (head.closes) this.isOpen = false;
    this.#events.onAnswer(this, head);
    if (head.closes) {
      this.#events.onGone(this);
      this.close();
    }
  }
}

/** The bytes of one request. */
export function requestBytes(
  { method, path, key, body }: { readonly method: string; readonly path: string; readonly key: string; readonly body?: string | undefined },
  headers: Readonly<Record<string, string>>,
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}
