// The ring between requests and their log: what is kept, in which order, what becomes of it when the database is slow or away, and what it costs.
// No database: the test says when a write ends.

import { describe, expect, test, vi } from 'vitest';
import type { RequestLogEntry } from '../domain/request-log.ts';
import { createRequestLog, RING_SIZE } from './request-log.ts';

const key = { workspaceId: 'w', keyId: 'k', session: null };

function make(sampleOneIn: number, insert: (entries: readonly RequestLogEntry[]) => Promise<void> = async () => undefined) {
  const written: RequestLogEntry[] = [];
  const errors: unknown[] = [];
  let made = 0;
  const log = createRequestLog({
    async insert(entries) {
      await insert(entries);
      written.push(...entries);
    },
    sampleOneIn,
    newId: () => String(++made).padStart(8, '0'),
    now: () => 1_000,
    onError: (error) => errors.push(error),
  });
  const counts = () => Object.fromEntries((log.families()[0]?.samples ?? []).map(({ labels, value }) => [labels?.outcome, value]));
  return { log, written, errors, counts };
}

describe('the log of requests', () => {
  test('gathers refusals for the rate limit by caller, operation and flush, and counts each of them', async () => {
    const { log, written } = make(10);
    const [read, write] = [log.noteOf('GET', '/v1/projects/{id}'), log.noteOf('PATCH', '/v1/projects/{id}')];
    const other = { ...key, keyId: 'other' };
    for (let i = 0; i < 500; i++) write.answered(key, `w${i}`, 'PATCH', 429, 1);
    for (let i = 0; i < 3; i++) read.answered(key, 'r', 'GET', 429, 1);
    for (let i = 0; i < 2; i++) read.answered(other, 'o', 'GET', 429, 1);
    await log.flush();
    write.answered(key, 'later', 'PATCH', 429, 1);
    await log.flush();
    expect(written.map(({ keyId, method, requestId, count }) => [keyId, method, requestId, count])).toEqual([
      ['k', 'PATCH', 'w0', 500],
      ['k', 'GET', 'r', 3],
      ['other', 'GET', 'o', 2],
      ['k', 'PATCH', 'later', 1],
    ]);
  });

  test('writes what was answered ten times a second, and what was refused for the rate limit once', async () => {
    vi.useFakeTimers();
    try {
      const { log, written } = make(1);
      const write = log.noteOf('POST', '/');
      const stop = log.start();
      for (let i = 1; i <= 20; i++) {
        write.answered(key, `w${i}`, 'POST', 201, 1);
        write.answered(key, `r${i}`, 'POST', 429, 1);
        await vi.advanceTimersByTimeAsync(100);
        expect(written.filter(({ status }) => status === 201)).toHaveLength(i);
      }
      write.answered(key, 'r21', 'POST', 429, 1);
      await stop();
      const refusals = written.filter(({ status }) => status === 429);
      expect(refusals.map(({ requestId, count }) => [requestId, count])).toEqual([
        ['r1', 10],
        ['r11', 10],
        ['r21', 1],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('keeps every write and every failure, and of successful reads one in so many', async () => {
    const { log, written } = make(10);
    const [read, write] = [log.noteOf('GET', '/v1/projects/{id}'), log.noteOf('PATCH', '/v1/projects/{id}')];
    for (let i = 0; i < 100; i++) {
      read.answered(key, 'r', 'GET', i % 2 === 0 ? 200 : 304, 1);
    }
    for (const status of [200, 404, 422, 503]) write.answered(key, 'w', 'PATCH', status, 1.25);
    for (const status of [403, 404, 500]) read.answered(key, 'r', 'HEAD', status, 1);
    await log.flush();
    const count = (choose: (entry: RequestLogEntry) => boolean): number => written.filter(choose).length;
    expect(count(({ requestId, status }) => requestId === 'r' && status < 400)).toBe(10);
    expect(written.filter(({ requestId }) => requestId === 'w').map(({ status }) => status)).toEqual([200, 404, 422, 503]);
    expect(written.filter(({ method }) => method === 'HEAD').map(({ status }) => status)).toEqual([403, 404, 500]);
    expect(written.at(-4)).toEqual({
      ...{ id: written.at(-4)?.id, workspaceId: 'w', keyId: 'k', bySession: false, requestId: 'w', method: 'PATCH' },
      ...{ path: '/v1/projects/{id}', status: 503, durationMs: 1.25, count: 1, createdAt: new Date(1_000) },
    });
  });

  test('keeps no successful read where the sample is 0', async () => {
    const { log, written } = make(0);
    const read = log.noteOf('GET', '/');
    for (let i = 0; i < 1_000; i++) read.answered(key, 'r', 'GET', 200, 1);
    await log.flush();
    expect(written).toEqual([]);
  });

  test('leaves out and counts what finds no room, writes the rest in order, and has room again afterwards', async () => {
    const ends: (() => void)[] = [];
    const { log, written, counts } = make(1, () => new Promise((resolve) => ends.push(resolve)));
    const write = log.noteOf('POST', '/');
    for (let i = 0; i < RING_SIZE + 5; i++) write.answered(key, String(i), 'POST', 201, 1);
    const writing = log.flush();
    let isOver = false;
    void writing.then(() => {
      isOver = true;
    });
    while (!isOver) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written.map(({ requestId }) => requestId)).toEqual(Array.from({ length: RING_SIZE }, (_, i) => String(i)));
    expect(counts()).toEqual({ written: RING_SIZE, dropped: 5 });
    expect(written.map(({ id }) => id)).toEqual([...written.map(({ id }) => id)].sort());
    write.answered(key, 'later', 'POST', 201, 1);
    const last = log.flush();
    ends.shift()?.();
    await last;
    expect(written.at(-1)?.requestId).toBe('later');
  });

  test('counts as dropped what the database refused, says so, and goes on with what follows', async () => {
    let fails = true;
    const { log, written, counts, errors } = make(1, async () => {
      if (fails) throw new Error('out of reach');
    });
    const write = log.noteOf('POST', '/');
    write.answered(key, 'lost', 'POST', 201, 1);
    await log.flush();
    fails = false;
    write.answered(key, 'kept', 'POST', 201, 1);
    await log.flush();
    expect(written.map(({ requestId }) => requestId)).toEqual(['kept']);
    expect([counts(), errors.length]).toEqual([{ written: 1, dropped: 1 }, 1]);
  });

  test('costs an unsampled read less than 0.3 µs', () => {
    const { log } = make(1_000_000_000);
    const read = log.noteOf('GET', '/');
    const rounds = 2_000_000;
    const times = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      for (let i = 0; i < rounds; i++) read.answered(key, 'req_1', 'GET', 200, 0.5);
      return ((performance.now() - begun) * 1_000) / rounds;
    });
    expect(Math.min(...times)).toBeLessThan(0.3);
    process.stdout.write(`an unsampled read: ${(Math.min(...times) * 1_000).toFixed(1)} ns\n`);
  });
});
