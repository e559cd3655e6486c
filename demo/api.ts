// The demo's client: fetch, a key, and nothing else. What any program in any language would do.
// Prints each request through the narrator; an answer other than the expected one ends the demo with what the server said.

import { narrator } from './narrator.ts';

const TIMEOUT_MS = 15_000;

/** The story went otherwise than it should; the message says how. */
export class StoryBroken extends Error {}

export interface Answer {
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly errors?: readonly { pointer: string; message: string }[];
}

function explain(problem: Problem): string {
  const errors = (problem.errors ?? []).map(({ pointer, message }) => ` ${pointer}: ${message}`).join(';');
  return `${problem.code ?? 'no code'}: ${problem.detail ?? problem.title ?? 'no detail'}${errors} (request ${problem.request_id ?? 'unknown'})`;
}

export class Api {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path, 200);
  }
  post(path: string, body: object): Promise<Answer> {
    return this.#send('POST', path, 201, body);
  }
  patch(path: string, body: object): Promise<Answer> {
    return this.#send('PATCH', path, 200, body);
  }
  delete(path: string): Promise<Answer> {
    return this.#send('DELETE', path, 204);
  }

  async #send(method: string, path: string, expected: number, body?: object): Promise<Answer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#key}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const begun = performance.now();
    const init = {
      method,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const response = await reach(`${this.#url}${path}`, init);
    const text = await response.text();
    narrator.request(method, path, response.status, performance.now() - begun);
    const parsed = text === '' ? {} : parse(text);
    if (response.status !== expected) {
      const said = response.status === 401 ? `${explain(parsed)} Give a key with --key or in TRANCHE_API_KEY.` : explain(parsed);
      throw new StoryBroken(`${method} ${path} answered ${response.status} instead of ${expected}. ${said}`);
    }
    return { body: parsed, headers: response.headers };
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new StoryBroken(`The server answered with something that is not JSON: ${text.slice(0, 200)}`);
  }
}

/** fetch, with an error a person can act on when nobody answers. */
export async function reach(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const reason =
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message || error.message : error.message) : String(error);
    const { origin } = new URL(url);
    throw new StoryBroken(`There is no answer from ${origin} (${reason}). Start the server with "npm start", or name another with --url.`);
  }
}
