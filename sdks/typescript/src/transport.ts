// Carries calls out: attempts with a timeout each, retries with the same idempotency key, answers turned into results or errors.
// Knows nothing of resources, and tells nobody the API key.

import { resultOf } from './answer.ts';
import { Call, type WithResponse } from './call.ts';
import { ApiConnectionError, ApiTimeoutError, TrancheError } from './errors.ts';
import { EventStream } from './event-stream.ts';
import { version } from './generated/version.ts';
import { checkedKey, headersOf } from './headers.ts';
import { ListCall, type PageBody, type Query } from './list.ts';
import { type CallOptions, limitsOf, runtimeName, type Settings, type StreamOptions } from './options.ts';
import { queryString } from './query.ts';
import { type Answer, errorOf, reasonOf } from './refusal.ts';
import type { Path, Requester } from './resource.ts';
import { ApiResponse } from './response.ts';
import { aborted, backoffMs, isTransient, MAX_RETRY_AFTER_MS, retryAfterMs, wait } from './retry.ts';

export class Transport implements Requester {
  readonly #settings: Settings;
  readonly #userAgent = `tranche-typescript/${version}${runtimeName()}`;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  call<Result>(method: string, path: Path, body: unknown, options: CallOptions, object?: string): Call<Result> {
    return new Call(this.#carryOut<Result>(method, path, body, options, object ?? null));
  }

  read<Result>(path: Path, query: object, options: CallOptions, object?: string, short: readonly string[] = []): Call<Result> {
    const whole = longNames(query, short);
    const wrong = [path, whole].find((one) => one instanceof TrancheError);
    return this.call('GET', wrong ?? `${path}${queryString(whole as Query)}`, undefined, options, object);
  }

  list<Item>(path: Path, query: object, options: CallOptions, short: readonly string[] = []): ListCall<Item> {
    const whole = longNames(query, short);
    const wrong = [path, whole].find((one) => one instanceof TrancheError);
    return new ListCall(whole instanceof TrancheError ? {} : whole, (page: Query) =>
      this.#carryOut<PageBody<Item>>('GET', wrong ?? `${path}${queryString(page)}`, undefined, options, 'list'),
    );
  }

  stream<Item>(path: Path, query: object, options: StreamOptions): EventStream<Item> {
    return new EventStream(() => {
      if (path instanceof TrancheError) throw path;
      const { baseUrl, fetch } = this.#settings;
      // Where several values may be asked for, the API reads them with commas between.
      const texts = Object.entries(query).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]);
      const url = baseUrl + path + queryString(Object.fromEntries(texts));
      const headers = { ...this.#headersOf('GET', undefined, options), accept: 'text/event-stream' };
      return {
        open: async (lastEventId, signal) => {
          const more = lastEventId === null ? headers : { ...headers, 'last-event-id': lastEventId };
          const init: RequestInit = { method: 'GET', headers: await this.#authorized(more), redirect: 'manual', signal };
          return () => fetch(url, init);
        },
        ...limitsOf(options, this.#settings),
        signal: options.signal,
        onChange: options.onChange,
      };
    });
  }

  async #carryOut<Result>(
    method: string,
    path: Path,
    body: unknown,
    options: CallOptions,
    object: string | null,
  ): Promise<WithResponse<Result>> {
    if (path instanceof TrancheError) throw path;
    const { signal } = options;
    const { baseUrl } = this.#settings;
    const headers = this.#headersOf(method, body, options);
    const text = body === undefined ? null : JSON.stringify(body);
    const { maxRetries, timeoutMs } = limitsOf(options, this.#settings);
    let isUnknown = false;
    for (let attempt = 1; ; attempt++) {
      let failure: TrancheError;
      let waitMs = 0;
      try {
        const answer = await this.#attempt(baseUrl + path, { method, body: text, redirect: 'manual' }, headers, timeoutMs, signal);
        const { status } = answer;
        // An earlier attempt may have deleted it without being able to say so.
        const isDone = method === 'DELETE' && status === 404 && isUnknown;
        if (isDone || (status >= 200 && status < 300)) {
          const data = (isDone ? undefined : resultOf(answer, object)) as Result;
          return { data, response: new ApiResponse(status, answer.headers, attempt) };
        }
        const askedMs = retryAfterMs(answer.headers);
        failure = errorOf(answer, askedMs);
        if (!isTransient(status) || (askedMs ?? 0) > MAX_RETRY_AFTER_MS) throw failure;
        waitMs = askedMs ?? 0;
        isUnknown ||= status >= 500;
      } catch (error) {
        if (!(error instanceof ApiConnectionError)) throw error;
        failure = error;
        isUnknown = true;
      }
      if (attempt > maxRetries) throw failure;
      await wait(Math.max(waitMs, backoffMs(attempt)), signal);
    }
  }

  async #attempt(
    url: string,
    init: RequestInit,
    headers: Record<string, string>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Answer> {
    if (signal?.aborted) throw aborted(signal);
    const controller = new AbortController();
    let fail: (why: TrancheError) => void = () => {};
    const ended = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    // Ended is said first, so that it is the reason, whatever the aborted request then fails with.
    const end = (why: TrancheError): void => {
      fail(why);
      controller.abort();
    };
    const cancel = (): void => end(aborted(signal));
    const timer = setTimeout(() => end(new ApiTimeoutError(`No whole answer came within ${timeoutMs} ms.`)), timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const authorized = await Promise.race([this.#authorized(headers), ended]);
      return await Promise.race([this.#send(url, { ...init, headers: authorized, signal: controller.signal }), ended]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #send(url: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await this.#settings.fetch(url, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      throw new ApiConnectionError(`No whole answer came: ${reasonOf(cause)}`, { cause });
    }
  }

  #headersOf(method: string, body: unknown, options: CallOptions): Record<string, string> {
    const { workspace, headers } = this.#settings;
    if (workspace === null) return headersOf(this.#userAgent, headers, method, body, options);
    const named = typeof workspace === 'function' ? workspace() : workspace;
    // A browser has a name of its own, which is what the list of sessions should show.
    return headersOf(null, named === null ? headers : { 'tranche-workspace': named, ...headers }, method, body, options);
  }

  async #authorized(headers: Record<string, string>): Promise<Record<string, string>> {
    const { apiKey } = this.#settings;
    if (apiKey === null) return headers;
    return { ...headers, authorization: `Bearer ${checkedKey(typeof apiKey === 'string' ? apiKey : await apiKey())}` };
  }
}

/** The query with the names that the API knows. */
function longNames(query: object, short: readonly string[]): Record<string, unknown> | TrancheError {
  const whole: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    const long = short.includes(name) ? `${name}_id` : name;
    if (long in whole) return new TrancheError(`Give ${long} or its short name, not both.`);
    whole[long] = value;
  }
  return whole;
}
