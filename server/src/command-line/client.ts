// A client of the public API for the command line: what any program with a key could do, and no more.
// Says what went wrong in words for the person at the terminal; prints nothing.

import { OperatorError } from '../operations/operator-error.ts';
import { readMessages, type StreamMessage } from './stream-messages.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';
const REQUEST_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface ApiTarget {
  readonly url: string;
  readonly key: string;
}

/** An event as the API shows it. */
export interface ToldEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventStream {
  readonly messages: AsyncGenerator<StreamMessage>;
  close(): void;
}

/** The server said no, and will say so again. */
export class Refused extends OperatorError {}

export interface Client {
  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Record<string, unknown>>;
  /** Rejects with `Refused` when coming back would not help. */
  openStream(query: Readonly<Record<string, string>>, lastEventId: string | null): Promise<EventStream>;
}

/** Where to call and with which key: from the options, or else the environment. */
export function targetOf(
  options: { readonly url?: string | undefined; readonly apiKey?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): ApiTarget {
  const url = options.url ?? (environment.TRANCHE_URL || DEFAULT_URL);
  const key = options.apiKey ?? environment.TRANCHE_API_KEY;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new OperatorError(`${url} is not an http or https URL.`);
  if (!key)
    throw new OperatorError('An API key is needed: set TRANCHE_API_KEY. Make one with: npm run tranche -- keys create --name terminal');
  return { url: url.replace(/\/+$/, ''), key };
}

export function createClient({ url, key }: ApiTarget): Client {
  const authorization = `Bearer ${key}`;

  async function call(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${url}${path}`, init);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
      throw new OperatorError(`${url} cannot be reached (${reason}). Does the server run? TRANCHE_URL says where.`);
    }
  }

  return {
    async send(method, path, body) {
      const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await call(path, { method, headers, signal, ...sent });
      const text = await answer.text();
      if (!answer.ok) throw new Refused(`${method} ${path} was refused. ${explain(answer.status, text)}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    },
    async openStream(query, lastEventId) {
      const leaving = new AbortController();
      const late = setTimeout(() => leaving.abort(), CONNECT_TIMEOUT_MS);
      const headers = { authorization, accept: 'text/event-stream', ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }) };
      const words = new URLSearchParams(query).toString();
      const path = `/v1/events/stream${words === '' ? '' : `?${words}`}`;
      const answer = await call(path, { headers, signal: leaving.signal }).finally(() => clearTimeout(late));
      if (!answer.ok || answer.body === null) {
        const text = `The event stream was refused. ${explain(answer.status, await answer.text())}`;
        // Too many requests or a server that is busy: it passes.
        throw answer.status === 429 || answer.status >= 500 ? new OperatorError(text) : new Refused(text);
      }
      return { messages: readMessages(answer.body as unknown as AsyncIterable<Uint8Array>), close: () => leaving.abort() };
    },
  };
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
}

function explain(status: number, text: string): string {
  let problem: Problem = {};
  try {
    problem = JSON.parse(text) as Problem;
  } catch {
    // Not an answer of this service; its status has to do.
  }
  return problem.code === undefined ? `The answer was ${status}.` : `${problem.code}: ${problem.detail ?? ''}`;
}
