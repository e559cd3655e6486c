// The lease of a key's minute on both databases: never more than the limit in total, whoever asks and however many at once.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import { createRateLimit } from '../accounts/rate-limit.ts';
import { leaseSize, takeLease } from './rate-leases.ts';

onEachDatabase('rate leases', (database) => {
  const ask = (keyId: string, minute = 100, limit = 1000) => takeLease(database(), { workspaceId: randomWorkspace, keyId, minute, limit });
  const randomWorkspace = randomUUID();

  test.each([1, 7, 8, 9, 100])('follow the steps that the counting side expects, up to a limit of %i', async (limit) => {
    const key = randomUUID();
    let used = 0;
    while (used < limit) {
      used += leaseSize(used, limit);
      expect(await ask(key, 100, limit)).toBe(used);
    }
    expect(used).toBe(limit);
    expect(await ask(key, 100, limit)).toBeNull();
  });

  test('begin anew with each minute', async () => {
    const key = randomUUID();
    expect(await ask(key, 100)).toBe(125);
    expect(await ask(key, 101)).toBe(125);
    expect(await ask(key, 101)).toBe(234);
  });

  test('of a process whose clock is behind are drawn from the minute of the others', async () => {
    const key = randomUUID();
    expect(await ask(key, 101)).toBe(125);
    expect(await ask(key, 100)).toBe(234);
    expect(await ask(key, 101)).toBe(329);
  });

  test('are refused, not granted, when the limit was lowered within the minute', async () => {
    const key = randomUUID();
    expect(await ask(key, 100, 1000)).toBe(125);
    expect(await ask(key, 100, 100)).toBeNull();
  });

  test('asked for by several processes at once admit exactly the limit together', async () => {
    const processes = Array.from({ length: 4 }, () =>
      createRateLimit({ limitPerMinute: 100, lease: (request) => takeLease(database(), request), now: () => 6_000_000 }),
    );
    const key = randomUUID();
    let admitted = 0;
    const send = async (limit: (typeof processes)[0]): Promise<void> => {
      for (let i = 0; i < 110; i++) if ((await limit.take(randomWorkspace, key)) >= 0) admitted += 1;
    };
    await Promise.all(processes.map(send));
    expect(admitted).toBe(100);
  });
});
