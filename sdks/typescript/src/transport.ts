// Carries calls out: attempts with a timeout each, retries with the same idempotency key, answers turned into results or errors.
// Knows nothing of resources, and tells nobody the API key.

import { Call, type WithResponse } from './call.ts';
import { ApiConnectionError, ApiTimeoutError, type TrancheError } from './errors.ts';
import { EventStream } from './event-stream.ts';
import { version } from './generated/version.ts';
import { ListCall, type PageBody, type Query } from './list.ts';
import { type CallOptions, runtimeName, type Settings } from './options.ts';
import { queryString } from './query.ts';
import { type Answer, errorOf, reasonOf } from './refusal.ts';
import type { Requester } from './resource.ts';
import { ApiResponse } from './response.ts';
import { aborted, backoffMs, isTransient, MAX_RETRY_AFTER_MS, retryAfterMs, wait } from './retry.ts';

export class Transport implements Requester {
  readonly #settings: Settings;
  readonly #userAgent = `tranche-typescript/${version}${runtimeName()}`;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  call<Result>(method: string, path: string, body: unknown, options: CallOptions): Call<Result> {
    return new Call(this.#carryOut<Result>(method, path, body, options));
  }

  list<Item>(path: string, query: object, options: CallOptions, short: readonly string[] = []): ListCall<Item> {
    const whole: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(query)) whole[short.includes(name) ? `${name}_id` : name] = value;
    return new ListCall(whole, (page: Query) => this.#carryOut<PageBody<Item>>('GET', path + queryString(page), undefined, options));
  }

  stream<Item>(path: string, query: object, options: CallOptions): EventStream<Item> {
    const { baseUrl, fetch } = this.#settings;
    // Where several values may be asked for, the API reads them with commas between.
    const texts = Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]);
    const headers = { ...this.#headersOf('GET', undefined, options), accept: 'text/event-stream' };
    return new EventStream({
      open: async (lastEventId, signal) => {
        const more = lastEventId === null ? headers : { ...headers, 'last-event-id': lastEventId };
        const init: RequestInit = { method: 'GET', headers: await this.#authorized(more), redirect: 'manual', signal };
        return () => fetch(baseUrl + path + queryString(Object.fromEntries(texts)), init);
      },
      timeoutMs: options.timeoutMs ?? this.#settings.timeoutMs,
      maxRetries: options.maxRetries ?? this.#settings.maxRetries,
      signal: options.signal,
    });
  }

  async #carryOut<Result>(method: string, path: string, body: unknown, options: CallOptions): Promise<WithResponse<Result>> {
    const { signal } = options;
    const { baseUrl } = this.#settings;
    const headers = this.#headersOf(method, body, options);
    const text = body === undefined ? null : JSON.stringify(body);
    const maxRetries = options.maxRetries ?? this.#settings.maxRetries;
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs;
    let unanswered = false;
    for (let attempt = 1; ; attempt++) {
      let failure: TrancheError;
      let waitMs = 0;
      try {
        const init: RequestInit = { method, headers: await this.#authorized(headers), body: text, redirect: 'manual' };
        const answer = await this.#attempt(baseUrl + path, init, timeoutMs, signal);
        const { status } = answer;
        // An earlier attempt may have deleted it without being able to say so.
        const isDone = method === 'DELETE' && status === 404 && unanswered;
        if (isDone || (status >= 200 && status < 300)) {
          const data = (isDone || answer.text === '' ? undefined : parse(answer)) as Result;
          return { data, response: new ApiResponse(status, answer.headers, attempt) };
        }
        const askedMs = retryAfterMs(answer.headers);
        failure = errorOf(answer, askedMs);
        if (!isTransient(status) || (askedMs ?? 0) > MAX_RETRY_AFTER_MS) throw failure;
        waitMs = askedMs ?? 0;
      } catch (error) {
        if (!(error instanceof ApiConnectionError)) throw error;
        failure = error;
        unanswered = true;
      }
      if (attempt > maxRetries) throw failure;
      await wait(Math.max(waitMs, backoffMs(attempt)), signal);
    }
  }

  async #attempt(url: string, init: RequestInit, timeoutMs: number, signal: AbortSignal | undefined): Promise<Answer> {
    if (signal?.aborted) throw aborted(signal);
    const controller = new AbortController();
    const cancel = (): void => controller.abort();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      cancel();
    }, timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const response = await this.#settings.fetch(url, { ...init, signal: controller.signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      if (signal?.aborted) throw aborted(signal);
      if (late) throw new ApiTimeoutError(`No whole answer came within ${timeoutMs} ms.`, { cause });
      throw new ApiConnectionError(`No whole answer came: ${reasonOf(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  #headersOf(method: string, body: unknown, options: CallOptions): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': this.#userAgent };
    if (body !== undefined) headers['content-type'] = 'application/json';
    // Made once for the call, so that every attempt of it is the same request to the server.
    if (method === 'POST' || method === 'PATCH') headers['idempotency-key'] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.ifMatch !== undefined) headers['if-match'] = options.ifMatch;
    if (options.ifNoneMatch !== undefined) headers['if-none-match'] = options.ifNoneMatch;
    for (const more of [this.#settings.headers, options.headers]) {
      for (const [name, value] of Object.entries(more ?? {})) headers[name.toLowerCase()] = value;
    }
    return headers;
  }

  async #authorized(headers: Record<string, string>): Promise<Record<string, string>> {
    const { apiKey } = this.#settings;
    if (apiKey === null) return headers;
    return { ...headers, authorization: `Bearer ${typeof apiKey === 'string' ? apiKey : await apiKey()}` };
  }
}

function parse({ text }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A success that cannot be read is an answer cut short, or of something in between; what came is nobody's to print.
    throw new ApiConnectionError('The answer is not whole: its body is no JSON.', {
      cause: cause instanceof Error ? cause.name : undefined,
    });
  }
}
