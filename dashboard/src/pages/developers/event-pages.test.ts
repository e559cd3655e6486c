// The end of a log of any length is found with few requests, and its pages hold every event once.

import { beforeEach, describe, expect, test, vi } from 'vitest';

const log = vi.hoisted(() => ({ length: 0, asked: 0, workspace: '' }));

vi.mock('../../client/workspace-choice.ts', () => ({ chosenWorkspace: () => log.workspace }));
vi.mock('../../client/client.ts', () => ({
  client: {
    deliveries: { list: async () => ({ data: [] }) },
    events: {
      list: async ({ after_seq, limit }: { after_seq: number; limit: number }) => {
        log.asked += 1;
        const count = Math.max(0, Math.min(limit, log.length - after_seq));
        return {
          data: Array.from({ length: count }, (_, index) => ({ seq: after_seq + 1 + index })),
          has_more: after_seq + count < log.length,
        };
      },
    },
  },
}));

const { findLastSeq, loadEventPage } = await import('./event-pages.ts');

describe('the event log from its end', () => {
  beforeEach(() => {
    // What was seen of a log is remembered by workspace.
    log.workspace = crypto.randomUUID();
    log.asked = 0;
  });

  test.each([
    0, 1, 99, 100, 101, 102, 150, 299, 300, 301, 499, 500, 501, 2_100, 12_345, 1_000_000, 987_654_321,
  ])('of %i events the last is found', async (length) => {
    log.length = length;
    expect(await findLastSeq()).toBe(length);
    expect(log.asked).toBeLessThan(40);
    log.asked = 0;
    log.length += 3;
    expect(await findLastSeq()).toBe(length + 3);
    expect(log.asked).toBe(1);
  });

  test('its pages hold every event once, latest first', async () => {
    log.length = 123;
    const found: number[] = [];
    for (let next: string | null = '123'; next !== null; ) {
      const page = await loadEventPage(Number(next));
      found.push(...page.items.map(({ seq }) => seq));
      next = page.next;
    }
    expect(found).toEqual(Array.from({ length: 123 }, (_, index) => 123 - index));
  });
});
