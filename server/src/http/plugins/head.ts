// Writes the head of an answer. Node joins and checks it header by header, which for a read takes a tenth of all its time; so what it
// wrote for the first answer of a second serves the others of that second, with their own lines in place of that one's.
// Knows nothing of what the headers say.

import type { ServerResponse } from 'node:http';

export type HeaderValue = string | number | string[];

export interface Head {
  readonly status: number;
  /** The same on all answers of this status that have a `shared` at all. */
  readonly shared: Readonly<Record<string, HeaderValue>>;
  /** Names and values by turns. Every answer that may share has these of its own. */
  readonly own: readonly (string | number)[];
  readonly extra: Readonly<Record<string, string | string[]>> | undefined;
  /** Whether this answer has a body, leaves its connection open, and could be one of many of its kind. */
  readonly mayShare: boolean;
}

/** Where Node keeps a head between `writeHead` and the first write. Not in its documentation; where it is missing, nothing is shared. */
type WithHead = ServerResponse & { _header?: string | null };

interface Shared {
  readonly second: number;
  readonly lines: string;
}

/** Makes what writes heads. `now`: milliseconds since 1970; the Date header says the second. */
export function createHeadWriter(now: () => number): (response: ServerResponse, head: Head) => void {
  const shared = new Map<number, Shared>();

  return (response: WithHead, head) => {
    const { status, own, extra } = head;
    // Who asked for the end of the connection, or speaks HTTP/1.0, gets a head of Node's own making.
    if (!head.mayShare || !response.shouldKeepAlive) return void writeWhole(response, head);
    const second = Math.floor(now() / 1000);
    const known = shared.get(status);
    if (known?.second === second) {
      const text = joined(known.lines, own, extra);
      if (text !== null) {
        response.statusCode = status;
        response._header = text;
        return;
      }
    }
    writeWhole(response, head);
    const lines = typeof response._header === 'string' ? linesBesides(response._header, own, extra) : null;
    if (lines !== null) shared.set(status, { second, lines });
  };
}

function writeWhole(response: ServerResponse, { status, shared, own, extra }: Head): void {
  const headers: Record<string, HeaderValue> = { ...shared };
  for (let i = 0; i < own.length; i += 2) headers[own[i] as string] = own[i + 1] as HeaderValue;
  response.writeHead(status, extra === undefined ? headers : Object.assign(headers, extra));
}

/** Anything else Node judges: in a head it would be a line of somebody else's. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Null where a value is none that may be put into a head unseen. */
function joined(lines: string, own: Head['own'], extra: Head['extra']): string | null {
  let text = lines;
  for (let i = 0; i < own.length; i += 2) text += `${own[i]}: ${own[i + 1]}\r\n`;
  if (extra === undefined) return `${text}\r\n`;
  for (const name in extra) {
    const value = extra[name];
    if (typeof value !== 'string' || !PLAIN.test(value)) return null;
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/** A head without its last empty line and without the lines of one answer alone. */
function linesBesides(head: string, own: Head['own'], extra: Head['extra']): string {
  const names = new Set([...own.filter((_, i) => i % 2 === 0), ...Object.keys(extra ?? {})]);
  const kept = head.split('\r\n').filter((line) => line !== '' && !names.has(line.slice(0, line.indexOf(':'))));
  // Through bytes: one plain text, where the engine would otherwise hold on to the parts of a longer one.
  return Buffer.from(`${kept.join('\r\n')}\r\n`, 'latin1').toString('latin1');
}
