// A stream of events that outlives its connections: each new one goes on where the last one got to, without a gap and without a repeat.
// Sends nothing by itself, and holds no more than what came last.

import { ApiConnectionError, ApiError, ApiTimeoutError, TrancheError } from './errors.ts';
import { MessageParser } from './event-messages.ts';
import { errorOf, reasonOf } from './refusal.ts';
import { aborted, backoffMs, isTransient, MAX_RETRY_AFTER_MS, retryAfterMs, wait } from './retry.ts';

/** Three of the server's signs of life: when nothing comes for so long, nothing will. */
export const IDLE_TIMEOUT_MS = 45_000;

export interface StreamSettings {
  /** Makes the request ready; what it throws is the caller's own. What it returns sends it. */
  readonly open: (lastEventId: string | null, signal: AbortSignal) => Promise<() => Promise<Response>>;
  /** How long the beginning of an answer may take. */
  readonly timeoutMs: number;
  /** How often in a row a connection is tried again without anything coming of it. */
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  /** Told of hints, which are no events. */
  readonly onChange: ((resources: readonly string[]) => void) | undefined;
}

/** Go through it with `for await`; leaving the loop closes the connection. Each loop begins anew where the query says. */
export class EventStream<Item> implements AsyncIterable<Item> {
  readonly #settings: () => StreamSettings;

  /** Asked at each loop, so that what is wrong with the settings is thrown there. */
  constructor(settings: () => StreamSettings) {
    this.#settings = settings;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Item, void, undefined> {
    const end = new AbortController();
    let isLeft = false;
    const events = follow<Item>(this.#settings(), end);
    return {
      async next() {
        try {
          return await events.next();
        } catch (error) {
          if (isLeft) return { done: true, value: undefined };
          throw error;
        }
      },
      return() {
        // Also ends a `next()` that still waits for an event.
        isLeft = true;
        end.abort();
        return events.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

async function* follow<Item>(settings: StreamSettings, end: AbortController): AsyncGenerator<Item, void, undefined> {
  const { signal, maxRetries } = settings;
  const cancel = (): void => end.abort(signal?.reason);
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  const place: Place = { id: null, retryMs: 0 };
  let failures = 0;
  try {
    for (;;) {
      let failure: TrancheError = new ApiConnectionError('The server ended the stream.');
      let askedMs = 0;
      const connection = new Connection(end.signal);
      try {
        await connection.open(settings, place.id);
        for (let text = await connection.read(); text !== null; text = await connection.read()) {
          failures = 0;
          for (const event of eventsIn<Item>(connection.parser, text, place, settings.onChange)) {
            if (end.signal.aborted) throw aborted(end.signal);
            yield event;
          }
        }
      } catch (error) {
        if (error instanceof ApiError) {
          askedMs = error.retryAfterSeconds === null ? 0 : error.retryAfterSeconds * 1_000;
          if (!isTransient(error.status) || askedMs > MAX_RETRY_AFTER_MS) throw error;
        } else if (!(error instanceof ApiConnectionError)) throw error;
        failure = error;
      } finally {
        connection.close();
      }
      failures += 1;
      if (failures > maxRetries) throw failure;
      await wait(Math.max(askedMs, place.retryMs, backoffMs(failures)), end.signal);
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Where a stream stands, over all its connections. */
interface Place {
  id: string | null;
  retryMs: number;
}

function* eventsIn<Item>(parser: MessageParser, text: string, place: Place, onChange: StreamSettings['onChange']): Generator<Item> {
  const messages = parser.push(text);
  if (parser.retryMs !== null) place.retryMs = Math.min(parser.retryMs, MAX_RETRY_AFTER_MS);
  for (const { kind, id, data } of messages) {
    if (kind !== null) {
      if (kind === 'change') onChange?.(changedIn(data));
      continue;
    }
    if (id !== null && id !== '') {
      // Ids are the numbers of events: what is not beyond the last one was here before.
      if (place.id !== null && Number(id) <= Number(place.id)) continue;
      place.id = id;
    }
    if (data !== null) yield parsed<Item>(data);
  }
}

function changedIn(data: string | null): readonly string[] {
  const { resources } = parsed<{ readonly resources?: unknown }>(data ?? '{}');
  return Array.isArray(resources) ? resources.filter((name) => typeof name === 'string') : [];
}

function parsed<Item>(data: string): Item {
  try {
    return JSON.parse(data) as Item;
  } catch {
    // Nothing better would come of asking again, and going on would leave it out without a word. What came is nobody's to print.
    throw new TrancheError('A message of the stream is no JSON.');
  }
}

/** One connection, and the time that each step of it may take. */
class Connection {
  readonly parser = new MessageParser();
  readonly #controller = new AbortController();
  readonly #decoder = new TextDecoder();
  readonly #end: AbortSignal;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;

  constructor(end: AbortSignal) {
    this.#end = end;
    end.addEventListener('abort', this.close, { once: true });
  }

  /** Throws an `ApiError` for an answer that is a refusal. */
  async open({ open, timeoutMs }: StreamSettings, lastEventId: string | null): Promise<void> {
    if (this.#end.aborted) throw aborted(this.#end);
    // What fails here is the caller's own and no connection, but waits no longer for it.
    const send = await this.#inTime(open(lastEventId, this.#controller.signal), timeoutMs, true);
    if (this.#end.aborted) throw aborted(this.#end);
    const response = await this.#inTime(send(), timeoutMs);
    const { status, headers } = response;
    if (status < 200 || status > 299) {
      const text = await this.#inTime(response.text(), timeoutMs);
      throw errorOf({ status, headers, text }, retryAfterMs(headers));
    }
    if (response.body === null || !/^text\/event-stream\b/i.test(headers.get('content-type') ?? ''))
      throw new ApiConnectionError('What answers is no stream of events.');
    this.#reader = response.body.getReader();
  }

  /** The next piece; null at the end. */
  async read(): Promise<string | null> {
    const reader = this.#reader as ReadableStreamDefaultReader<Uint8Array>;
    const { done, value } = await this.#inTime(reader.read(), IDLE_TIMEOUT_MS);
    return done ? null : this.#decoder.decode(value, { stream: true });
  }

  readonly close = (): void => {
    this.#end.removeEventListener('abort', this.close);
    this.#controller.abort();
    // For a `fetch` that does not heed its signal any more once it has answered.
    this.#reader?.cancel().catch(() => {});
  };

  #inTime<Result>(work: Promise<Result>, timeoutMs: number, isOwn = false): Promise<Result> {
    const end = this.#end;
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer);
        end.removeEventListener('abort', cancel);
        settled();
      };
      const cancel = (): void => settle(() => reject(aborted(end)));
      const late = new ApiTimeoutError(`Nothing came within ${timeoutMs} ms.`);
      const timer = setTimeout(() => settle(() => reject(late)), timeoutMs);
      end.addEventListener('abort', cancel, { once: true });
      work.then(
        (result) => settle(() => resolve(result)),
        (cause) => settle(() => reject(isOwn ? cause : new ApiConnectionError(`The connection was lost: ${reasonOf(cause)}`, { cause }))),
      );
    });
  }
}
