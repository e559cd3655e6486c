// A client over a `fetch` that answers from a list, for what needs no server: each test says what comes back and sees what was sent.
// Sends nothing.

import { Tranche, type TrancheOptions } from '../src/index.ts';

export interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly redirect: string | undefined;
}

type Reply = Response | Error | ((init: RequestInit) => Promise<Response>);

export const json = (body: unknown, init: ResponseInit = {}): Response => new Response(JSON.stringify(body), init);

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json({ code, status, detail: `About ${code}.`, request_id: 'req_body' }, { status, headers: { 'request-id': 'req_1', ...headers } });

/** Answers with each of `replies` in turn; the last one stays. */
export function stubbed(replies: readonly Reply[], options: TrancheOptions = {}): { client: Tranche; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new Tranche({
    apiKey: 'tr_live_secret',
    baseUrl: 'http://service.test',
    ...options,
    fetch: async (url, init) => {
      const { method = 'GET', headers, body, redirect } = init;
      sent.push({
        url,
        method,
        headers: headers as Record<string, string>,
        body: typeof body === 'string' ? JSON.parse(body) : body,
        redirect,
      });
      const reply = replies[Math.min(sent.length, replies.length) - 1];
      if (typeof reply === 'function') return reply(init);
      if (reply instanceof Error) throw reply;
      return (reply as Response).clone();
    },
  });
  return { client, sent };
}

/** A `fetch` that never answers, but can be aborted. */
export const silence = ({ signal }: RequestInit): Promise<Response> =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
