// The head of the usual answer, one with a body on a connection that lasts. Node checks and joins a head header by header, which takes a
// tenth of all the time of a read; so what it wrote for the first such answer of a second serves the others of that second.
// Knows nothing of what the headers say.

import { ServerResponse, STATUS_CODES } from 'node:http';

/** Where Node keeps a head from `writeHead` to the first write. Its documentation does not name it; were it gone, each head would be Node's own. */
type WithHead = ServerResponse & { _header?: string | null };

type Headers = Readonly<Record<string, string | string[]>>;

/**
 * `own`: the lines, each with its line break, of the headers that every usual answer has with a value of its own. Their values are ours and
 * plain. `extra`: what this answer alone says.
 */
export type WriteUsualHead = (response: ServerResponse, status: number, own: string, extra: Headers | undefined) => void;

/** `common` are the headers that all usual answers have alike; `now`, milliseconds since 1970, says their Date. */
export function createUsualHead(common: Readonly<Record<string, string>>, now: () => number): WriteUsualHead {
  const sharedNames = new Set([...Object.keys(common), 'Date', 'Connection', 'Keep-Alive'].map((name) => name.toLowerCase()));
  /** By status: the lines that the usual answers of a second share. */
  const shared = new Map<number, string>();
  let second = -1;
  let date = '';

  /** Null where Node has to judge: of a name that is shared, a value of several lines, or one in which a line break would begin a header. */
  function linesOf(extra: Headers): string | null {
    let lines = '';
    for (const name in extra) {
      const value = extra[name];
      if (typeof value !== 'string' || !PLAIN.test(value) || sharedNames.has(name.toLowerCase())) return null;
      lines += `${name}: ${value}${LINE_BREAK}`;
    }
    return lines;
  }

  /** Null where a line is neither shared nor this answer's own, so that what is told to one client never reaches another. */
  function linesToShare(head: string | null | undefined, own: Headers): string | null {
    if (typeof head !== 'string' || !head.includes('Connection: keep-alive\r\n')) return null;
    const [statusLine = '', ...fields] = head.split(LINE_BREAK).filter((line) => line !== '');
    const lines = [statusLine];
    for (const field of fields) {
      const name = field.slice(0, field.indexOf(':'));
      if (Object.hasOwn(own, name)) continue;
      if (!sharedNames.has(name.toLowerCase())) return null;
      lines.push(field);
    }
    return [...lines, ''].join(LINE_BREAK);
  }

  return (response: WithHead, status, own, extra) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      date = new Date(current * 1000).toUTCString();
      shared.clear();
    }
    const lines = extra === undefined ? '' : linesOf(extra);
    const mayShare = lines !== null && isPlain(response);
    const known = mayShare ? shared.get(status) : undefined;
    if (known !== undefined) {
      response.statusCode = status;
      response.statusMessage = STATUS_CODES[status] as string;
      response._header = known + own + lines + LINE_BREAK;
      return;
    }
    const ownHeaders = { ...headersOf(own), ...extra };
    response.writeHead(status, { ...common, Date: date, ...ownHeaders });
    const learnt = mayShare ? linesToShare(response._header, ownHeaders) : null;
    if (learnt !== null) shared.set(status, learnt);
  };
}

const LINE_BREAK = '\r\n';
const PLAIN = /^[\x20-\x7e]*$/;

/** Whether nobody has set anything on it beforehand, or put a `writeHead` of their own there, as what tests requests without a socket does. */
const isPlain = (response: ServerResponse): boolean =>
  response.writeHead === ServerResponse.prototype.writeHead &&
  response.statusMessage === undefined &&
  response.getHeaderNames().length === 0;

function headersOf(lines: string): Headers {
  const fields = lines.split(LINE_BREAK).slice(0, -1);
  return Object.fromEntries(fields.map((field) => field.split(/: (.*)/, 2)));
}
