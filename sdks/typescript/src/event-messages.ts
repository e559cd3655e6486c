// Takes Server-Sent Events apart as they come, in whatever pieces.
// Pure; keeps no more than the one message that is under way, up to a bound.

import { TrancheError } from './errors.ts';

export interface Message {
  /** What sort of message it is; null for an event. */
  readonly kind: string | null;
  /** The last id so far; null when there was none yet. */
  readonly id: string | null;
  /** Null for a message that only moves the place on. */
  readonly data: string | null;
}

/** An event has a few hundred; what goes on for so long is no stream of this API. */
export const MAX_MESSAGE_CHARACTERS = 1024 * 1024;

export class MessageParser {
  /** How long the server asks to be left alone before the next connection; null where it has not said. */
  retryMs: number | null = null;
  #line = '';
  #data: string[] = [];
  #characters = 0;
  #id: string | null = null;
  #kind: string | null = null;
  #isAfterReturn = false;

  /** The messages that `text` completes. One that the stream's end cuts short is never returned, so its id does not count either. */
  push(text: string): Message[] {
    if (text === '') return [];
    // A line may end with both characters, and a piece between them.
    this.#line += this.#isAfterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#isAfterReturn = text.endsWith('\r');
    const lines = this.#line.split(/\r\n|\n|\r/);
    this.#line = lines.pop() as string;
    const messages: Message[] = [];
    for (const line of lines) {
      if (line !== '') {
        this.#take(line);
        continue;
      }
      messages.push({ kind: this.#kind, id: this.#id, data: this.#data.length === 0 ? null : this.#data.join('\n') });
      this.#kind = null;
      this.#data = [];
      this.#characters = 0;
    }
    this.#bound(this.#line.length);
    return messages;
  }

  #bound(more: number): void {
    if (this.#characters + more > MAX_MESSAGE_CHARACTERS) throw new TrancheError('A message of the stream is too long.');
  }

  #take(line: string): void {
    // Comments, and fields that mean nothing here, are passed by.
    const [, field, value = ''] = /^(id|data|event|retry)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') {
      this.#bound(value.length);
      this.#characters += value.length;
      this.#data.push(value);
    } else if (field === 'event') this.#kind = value === '' ? null : value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
