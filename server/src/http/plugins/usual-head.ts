// The head of the usual answer, one with a body on a connection that lasts. Node checks and joins a head header by header, which takes a
// tenth of all the time of a read; so what it wrote for the first such answer of a second serves the others of that second.
// Knows nothing of what the headers say.

import { ServerResponse } from 'node:http';

/** Where Node keeps a head from `writeHead` to the first write. Its documentation does not name it; were it gone, each head would be Node's own. */
type WithHead = ServerResponse & { _header?: string | null };

type Headers = Readonly<Record<string, string | string[]>>;

/** `own`: the lines, each with its line break, of the headers that every usual answer has with a value of its own. The values are ours and plain. */
export type WriteUsualHead = (response: ServerResponse, status: number, own: string, extra: Headers | undefined) => void;

/** `headers` are those that all usual answers share; `now`, milliseconds since 1970, says when the Date header is another one. */
export function createUsualHead(headers: Readonly<Record<string, string>>, now: () => number): WriteUsualHead {
  /** By status: the lines that the usual answers of a second share. */
  const lines = new Map<number, string>();
  let second = 0;

  return (response: WithHead, status, own, extra) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      lines.clear();
    }
    const shared = isPlain(response) ? lines.get(status) : undefined;
    const head = shared === undefined ? null : joined(shared, own, extra);
    if (head !== null) {
      response.statusCode = status;
      response._header = head;
      return;
    }
    const ownHeaders = headersOf(own);
    response.writeHead(status, { ...headers, ...ownHeaders, ...extra });
    const learnt = linesToShare(response._header, headers, { ...ownHeaders, ...extra });
    if (learnt !== null) lines.set(status, learnt);
  };
}

/** Whether nobody has set headers on it beforehand, or put a `writeHead` of their own there, as what tests requests without a socket does. */
const isPlain = (response: ServerResponse): boolean =>
  response.writeHead === ServerResponse.prototype.writeHead && response.getHeaderNames().length === 0;

const LINE_BREAK = '\r\n';

function headersOf(lines: string): Headers {
  const fields = lines.split(LINE_BREAK).slice(0, -1);
  return Object.fromEntries(fields.map((field) => field.split(/: (.*)/, 2)));
}

/** What else is in a value, Node judges: a line break would begin a header of somebody else's. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Null where a value cannot be joined unseen. */
function joined(shared: string, own: string, extra: Headers | undefined): string | null {
  if (extra === undefined) return `${shared}${own}${LINE_BREAK}`;
  let head = shared + own;
  for (const name in extra) {
    const value = extra[name];
    if (typeof value !== 'string' || !PLAIN.test(value)) return null;
    head += `${name}: ${value}${LINE_BREAK}`;
  }
  return head + LINE_BREAK;
}

/** Headers that Node adds by itself. */
const OF_NODE = ['Date', 'Connection', 'Keep-Alive'];

/** The lines that other answers may have too; null where one is of neither kind, so that what is told to one client never reaches another. */
function linesToShare(head: string | null | undefined, shared: Headers, own: Headers): string | null {
  if (typeof head !== 'string') return null;
  const [statusLine = '', ...fields] = head.split(LINE_BREAK).filter((line) => line !== '');
  const lines = [statusLine];
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(':'));
    if (Object.hasOwn(own, name)) continue;
    if (!Object.hasOwn(shared, name) && !OF_NODE.includes(name)) return null;
    lines.push(field);
  }
  return [...lines, ''].join(LINE_BREAK);
}
