// What is done about webhooks that did not come.
// The event log is a list here; how a real one answers is in the shared scenario.

import { describe, expect, expectTypeOf, test } from 'vitest';
import { type Event, GapDetector, type WebhookEvent } from '../src/index.ts';
import { stubbed } from './stub.ts';

describe('gaps', () => {
  const log: Event[] = [1, 2, 3, 4, 5, 6].map((seq) => ({
    id: `evt_${seq}`,
    object: 'event',
    seq,
    type: seq % 2 === 0 ? 'payment.released' : 'project.created',
    created_at: '2026-11-20T10:00:00.000Z',
    data: { amount: seq },
  }));
  const asked: number[] = [];
  const detector = (lastSeq: number | null | undefined, fails = (): boolean => false) =>
    new GapDetector(
      async function* (query) {
        asked.push(query.after_seq ?? 0);
        if (fails()) throw new Error('away');
        yield* log.filter(({ seq }) => seq > (query.after_seq ?? 0));
      },
      { lastSeq, eventTypes: ['payment.released'] },
    );

  test('two webhooks at once do not both find the same gap', async () => {
    const gaps = detector(1);
    const [first, second] = await Promise.all([gaps.observe({ seq: 5, prevSeq: 4 }), gaps.observe({ seq: 6, prevSeq: 5 })]);
    expect(first.missing.map(({ seq }) => seq)).toEqual([2, 4]);
    expect(second).toEqual({ duplicate: false, missing: [] });
    expect(gaps.lastSeq).toBe(6);
  });

  test('what could not be read or handled stays a gap for the next attempt', async () => {
    let away = true;
    const gaps = detector(1, () => away);
    const webhook = { seq: 6, prevSeq: 4 };
    await expect(gaps.observe(webhook)).rejects.toThrow('away');
    expect(gaps.lastSeq).toBe(1);
    away = false;
    const handled: (number | null)[] = [];
    const handle = ({ seq }: { readonly seq: number | null }): void => {
      if (seq === 4 && handled.length === 1) throw new Error('not now');
      handled.push(seq);
    };
    await expect(gaps.process(webhook, handle)).rejects.toThrow('not now');
    expect([handled, gaps.lastSeq]).toEqual([[2], 2]);
    handled.push(0);
    await gaps.process(webhook, handle);
    await gaps.process(webhook, handle);
    expect([handled, gaps.lastSeq]).toEqual([[2, 0, 4, 6], 6]);
  });

  test('the detector of a client reads the event log of that client', async () => {
    const { client, sent } = stubbed([
      new Response(JSON.stringify({ object: 'list', data: log.slice(1), has_more: false, next_cursor: null })),
    ]);
    const { missing } = await client.webhooks.gapDetector({ lastSeq: 1 }).observe({ seq: 4, prevSeq: 3 });
    expect(missing.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(sent[0]?.url).toBe('http://service.test/v1/events?after_seq=1&limit=100');
  });

  test('what is missing is handed over in the same form as the webhook: one function handles both', async () => {
    const webhook = { event: 'payment.released', data: {}, id: 'evt_6', timestamp: new Date(), seq: 6, prevSeq: 4, attempt: 1 };
    const handled: WebhookEvent[] = [];
    await detector(3).process(webhook as unknown as WebhookEvent, (event) => {
      expectTypeOf(event).toEqualTypeOf<WebhookEvent>();
      handled.push(event);
    });
    const timestamp = new Date('2026-11-20T10:00:00.000Z');
    const missed = { event: 'payment.released', data: { amount: 4 }, id: 'evt_4', timestamp, seq: 4, prevSeq: null, attempt: null };
    expect(handled).toEqual([missed, webhook]);
  });

  test('a detector that begins with 0, or null, knows nothing: the first webhook begins the count', async () => {
    for (const lastSeq of [0, null, undefined]) {
      const gaps = detector(lastSeq);
      expect(gaps.lastSeq).toBeNull();
      expect(await gaps.observe({ seq: 6, prevSeq: 4 })).toEqual({ duplicate: false, missing: [] });
      expect(gaps.lastSeq).toBe(6);
    }
  });
});
