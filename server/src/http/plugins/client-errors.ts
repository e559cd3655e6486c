// Requests that never became one: broken syntax, headers too large, too slow, CONNECT, an Expect that cannot be met.
// Answers on the bare socket with the same problems as everywhere else, then closes; it must never throw.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from '../../domain/errors.ts';
import { PROBLEM_CONTENT_TYPE, type ProblemContext, problemHeaders, problemStatus, toProblem } from '../problems.ts';
import type { PathTable } from './unmatched.ts';
import { judgeUnmatched } from './unmatched.ts';

/** A parser's error as Node raises it. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  /** The bytes that could not be read: a Buffer, although the framework's types say otherwise. It may begin with requests that could. */
  readonly rawPacket?: unknown;
  /** How far into the packet the parser came. */
  readonly bytesParsed?: number;
}

/** Node keeps the response that is under way on the socket here; writing into the middle of it would corrupt it. */
type BusySocket = Duplex & { readonly _httpMessage?: ServerResponse | null };

function refusalOf(error: ClientError): Refusal {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', detail: 'The request did not arrive completely in time.' };
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers_too_large', detail: 'The request line and the headers together are too large.' };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'body_too_large', detail: 'The chunk extensions of the body are too large.' };
    default:
      return {
        code: 'malformed_request',
        detail: `The request is not valid HTTP${error.reason === undefined ? '' : `: ${error.reason}`}.`,
      };
  }
}

/** An unknown method on a path that exists is a 405, as it is for a known method. Only the first line of the packet is looked at. */
function refuseMethod(error: ClientError, paths: PathTable): { refusal: Refusal; context: ProblemContext } | null {
  if (error.code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(error.rawPacket)) return null;
  const line = /^([!#$%&'*+.^_`|~\w-]{1,64}) (\S{1,8192}) HTTP\/1\.[01]\r?\n/.exec(error.rawPacket.toString('latin1', 0, 8300));
  // Further on in the packet the parser stumbled over what follows a request, and not over this line.
  if (line === null || (error.bytesParsed ?? 0) > (line[1] as string).length) return null;
  const { allow, refusal } = judgeUnmatched(paths, line[1] as string, line[2] as string);
  return refusal === null ? null : { refusal, context: allow === null ? {} : { allow } };
}

function writeProblem(socket: Duplex, refusal: Refusal, requestId: string, context: ProblemContext): void {
  const body = JSON.stringify(toProblem(refusal, requestId));
  const status = problemStatus[refusal.code];
  const headers: Record<string, string> = {
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...problemHeaders(refusal.code, context),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

export function createClientErrorHandler(paths: PathTable, requestId: () => string): (error: ClientError, socket: Duplex) => void {
  return function answer(error, socket) {
    const busy = (socket as BusySocket)._httpMessage;
    if (busy?.req.complete === true && !socket.destroyed) {
      // What came before on this connection was read whole and gets its own answer first; ours would be taken for it.
      busy.once('close', () => answer(error, socket));
      return;
    }
    if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || (busy?.headersSent ?? false)) {
      socket.destroy();
      return;
    }
    const method = refuseMethod(error, paths);
    writeProblem(socket, method?.refusal ?? refusalOf(error), requestId(), method?.context ?? {});
  };
}

/** CONNECT asks for a tunnel; there is none. Without a listener Node would cut the connection without a word. */
export function createConnectHandler(requestId: () => string): (request: IncomingMessage, socket: Duplex) => void {
  return (_request, socket) => {
    socket.on('error', () => socket.destroy());
    const allow = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
    writeProblem(socket, { code: 'method_not_allowed', detail: 'This server is no proxy: it opens no tunnels.' }, requestId(), { allow });
  };
}
