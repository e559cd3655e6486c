// Following the event log: how messages are taken apart, when a connection is made again, and what ends a stream.
// Over a `fetch` that answers from a list; the real server is in event-stream-server.test.ts.

import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { MAX_MESSAGE_CHARACTERS, type Message, MessageParser } from '../src/event-messages.ts';
import { IDLE_TIMEOUT_MS } from '../src/event-stream.ts';
import { ApiAbortedError, type Event, type EventStream, type TrancheError } from '../src/index.ts';
import { problem, silence, stubbed } from './stub.ts';

const message = (seq: number): string => `id: ${seq}\ndata: ${JSON.stringify({ id: `evt_${seq}`, seq })}\n\n`;

const sse = { headers: { 'content-type': 'text/event-stream; charset=utf-8' } };

/** Sends each piece, then ends, breaks, or says nothing more. */
function streaming(
  pieces: readonly string[],
  then: 'end' | 'break' | 'silence' = 'end',
  onCancel = (): void => {},
): () => Promise<Response> {
  return async () => {
    const left = pieces.map((piece) => new TextEncoder().encode(piece));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = left.shift();
        if (piece !== undefined) controller.enqueue(piece);
        else if (then === 'end') controller.close();
        else if (then === 'break') controller.error(new TypeError('terminated'));
        else return new Promise(() => {});
      },
      cancel: onCancel,
    });
    return new Response(body, sse);
  };
}

async function take(stream: EventStream<Event>, count: number): Promise<number[]> {
  const seqs: number[] = [];
  if (count > 0) {
    for await (const { seq } of stream) if (seqs.push(seq) === count) break;
  }
  return seqs;
}

const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('messages', () => {
  const text =
    '\uFEFF: hello\r\nretry: 2000\r\nid: 3\r\n\r\n: still here\n\nid: 4\rdata: one\rdata:two\r\revent: x\ndata\nid\n\nid: 9\ndata: cut';
  const whole: Message[] = [
    { kind: null, id: '3', data: null },
    { kind: null, id: '3', data: null },
    { kind: null, id: '4', data: 'one\ntwo' },
    { kind: 'x', id: '', data: '' },
  ];

  test('are the same however the bytes are cut, and one without its end is none', () => {
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size++) {
      const parser = new MessageParser();
      const decoder = new TextDecoder();
      const found: Message[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        found.push(...parser.push(decoder.decode(bytes.subarray(at, at + size), { stream: true })));
      }
      expect(found, `pieces of ${size}`).toEqual(whole);
      expect(parser.retryMs).toBe(2_000);
    }
  });

  test('have a bound, in one line as in many', () => {
    const half = 'x'.repeat(MAX_MESSAGE_CHARACTERS / 2);
    expect(() => new MessageParser().push(`data: ${half}${half}`)).toThrow('too long');
    expect(() => new MessageParser().push(`data: ${half}\ndata: ${half}x\n`)).toThrow('too long');
    expect(new MessageParser().push(`data: ${half}\n\ndata: ${half}\n\n`)).toHaveLength(2);
  });
});

describe('a stream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Lets the clock run until the promise is settled. */
  async function settled<Result>(promise: Promise<Result>): Promise<Result> {
    let isOver = false;
    const watched = promise.finally(() => {
      isOver = true;
    });
    watched.catch(() => {});
    for (let n = 0; n < 1_000 && !isOver; n++) await vi.advanceTimersByTimeAsync(1_000);
    return watched;
  }

  test('yields typed events, and asks for what it was told to', async () => {
    const { client, sent } = stubbed([streaming([`retry: 2000\nid: 6\n\n${message(7)}`, message(8)], 'silence')]);
    const stream = client.events.stream({ after_seq: 6, event_types: ['payment.released', 'invoice.issued'] });
    expectTypeOf(stream).toEqualTypeOf<EventStream<Event>>();
    expect(await settled(take(stream, 2))).toEqual([7, 8]);
    expect(sent[0]?.url).toBe('http://service.test/v1/events/stream?after_seq=6&event_types=payment.released%2Cinvoice.issued');
    expect(sent[0]?.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer tr_live_secret' });
    expect(sent[0]?.headers).not.toHaveProperty('last-event-id');
  });

  test('goes on after a drop, a message cut short and an end, from the last whole message, without a gap or a repeat', async () => {
    const { client, sent } = stubbed([
      streaming([message(1), message(2), message(3).slice(0, -1)], 'break'),
      streaming([message(2) + message(3), 'id: 5\n\n'], 'end'),
      streaming([message(6)], 'silence'),
    ]);
    expect(await settled(take(client.events.stream(), 4))).toEqual([1, 2, 3, 6]);
    expect(sent.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '5']);
  });

  test('waits as long as the server asked before it comes back', async () => {
    const { client, sent } = stubbed([streaming(['retry: 7000\n\n', message(1)]), streaming([message(2)])]);
    const taken = take(client.events.stream(), 2);
    await vi.advanceTimersByTimeAsync(6_900);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(await taken).toEqual([1, 2]);
  });

  test('that is silent for longer than three signs of life is connected anew', async () => {
    const { client, sent } = stubbed([streaming([message(1)], 'silence'), streaming([message(2)])]);
    const taken = take(client.events.stream(), 2);
    await vi.advanceTimersByTimeAsync(IDLE_TIMEOUT_MS - 1);
    expect(sent).toHaveLength(1);
    expect(await settled(taken)).toEqual([1, 2]);
  });

  test.each([
    ['lost connections', new TypeError('refused')],
    ['refusals that may pass', problem(429, 'too_many_streams')],
    ['answers that are no stream', new Response('<html>')],
    ['connections that say nothing', streaming([])],
  ])('gives up after maxRetries %s in a row, counted anew whenever something came', async (_name, failure) => {
    const { client, sent } = stubbed([failure, failure, streaming([message(1)]), failure, streaming([': x\n\n']), failure]);
    const seqs: number[] = [];
    const followed = caught(
      (async () => {
        for await (const { seq } of client.events.stream()) seqs.push(seq);
      })(),
    );
    const error = (await settled(followed)) as TrancheError;
    expect(error.name).toBe(failure instanceof Response && failure.status === 429 ? 'TooManyStreamsError' : 'ApiConnectionError');
    expect(seqs).toEqual([1]);
    // After the last sign of life: its own drop, then two more attempts.
    expect(sent).toHaveLength(7);
  });

  test.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [422, 'validation_failed'],
  ])('that is refused with %i throws its error at once, and so does one that is refused later', async (status, code) => {
    for (const before of [[], [streaming([message(1)])]]) {
      const { client, sent } = stubbed([...before, problem(status, code)]);
      expect(await settled(caught(take(client.events.stream(), 5)))).toMatchObject({ status, code });
      expect(sent).toHaveLength(before.length + 1);
    }
  });

  test('with a message that cannot be read throws, so that none is left out without a word, and does not print it', async () => {
    const { client, sent } = stubbed([streaming([`${message(1)}id: 2\ndata: {"amount": tr_live_x\n\n`])]);
    const error = await settled(caught(take(client.events.stream(), 2)));
    expect(error).toMatchObject({ name: 'TrancheError' });
    expect(JSON.stringify([String(error), error])).not.toContain('tr_live_x');
    expect(sent).toHaveLength(1);
  });

  test('that is left closes its connection, also while it waits for an event', async () => {
    const closed = vi.fn();
    const { client } = stubbed([streaming([message(1)], 'silence', closed)]);
    await settled(take(client.events.stream(), 1));
    expect(closed).toHaveBeenCalledOnce();
    const events = client.events.stream()[Symbol.asyncIterator]();
    await events.next();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(closed).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that is cancelled throws ApiAbortedError: before it begins, while it connects, between events, and between attempts', async () => {
    const before = new AbortController();
    before.abort();
    const { client, sent } = stubbed([silence]);
    expect(await caught(take(client.events.stream({}, { signal: before.signal }), 1))).toBeInstanceOf(ApiAbortedError);
    expect(sent).toHaveLength(0);

    const closed = vi.fn();
    for (const reply of [silence, streaming([message(1)], 'silence', closed), new TypeError('lost')]) {
      const controller = new AbortController();
      const stream = stubbed([reply]).client.events.stream({}, { signal: controller.signal });
      const taken = caught(take(stream, 5));
      await vi.advanceTimersByTimeAsync(1);
      controller.abort();
      expect(await taken).toBeInstanceOf(ApiAbortedError);
    }
    expect(closed).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('yields nothing after it was cancelled, even what had come already', async () => {
    const controller = new AbortController();
    const { client } = stubbed([streaming([message(1) + message(2)], 'silence')]);
    const seqs: number[] = [];
    const followed = (async () => {
      for await (const { seq } of client.events.stream({}, { signal: controller.signal })) {
        seqs.push(seq);
        controller.abort();
      }
    })();
    expect(await caught(followed)).toBeInstanceOf(ApiAbortedError);
    expect(seqs).toEqual([1]);
  });

  test('asks for the key anew with each connection', async () => {
    let n = 0;
    const { client, sent } = stubbed([streaming([message(1)]), streaming([message(2)])], { apiKey: () => `key_${++n}` });
    await settled(take(client.events.stream(), 2));
    expect(sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer key_1', 'Bearer key_2']);
  });
});
