// The requests of the benchmark and its options: the right pages, the right mixture, and how many events a load may have made.
// Sends nothing.

import { expect, test } from 'vitest';
import { encodeId } from '../server/src/domain/ids.ts';
import { readOptions } from './options.ts';
import { type Books, eventsMade, FAR_PAGE, listShots, loadFor, PAGE_SIZE, readShots, type Stock, works } from './works.ts';

const uuid = (i: number): string => `01993c5a-8f00-7000-8000-${i.toString(16).padStart(12, '0')}`;
const books: Books = { keys: ['a', 'b'], payments: Array.from({ length: 12_000 }, (_, i) => uuid(i)) };
const stock: Stock = {
  take: async (_status, _where, count) =>
    Array.from({ length: Math.min(count, 1_000) }, (_, i) => ({ method: 'PATCH', path: `/v1/milestones/${i}`, key: 'a' })),
};

test('reads go to every payment once before they go to one again', () => {
  const paths = readShots(books).map(({ path }) => path);
  expect(new Set(paths).size).toBe(12_000);
});

test('page 1000 begins after the 999 newest pages', () => {
  const [first] = listShots(books, 1);
  const [far] = listShots(books, FAR_PAGE);
  expect(first?.path).toBe('/v1/payments?limit=10');
  // Newest first: 9,990 payments come before it.
  expect(far?.path).toBe(`/v1/payments?limit=10&starting_after=${encodeId('payment', uuid(12_000 - 999 * PAGE_SIZE))}`);
});

test('four of five requests of the mixture read, and no milestone is moved twice', async () => {
  const { shots, once } = await loadFor('mixed', books, stock, 1_000, 1);
  expect(once).toBe(true);
  expect(shots).toHaveLength(1_000);
  expect(shots.filter(({ method }) => method === 'GET')).toHaveLength(800);
  expect(shots.filter(({ method }) => method === 'POST')).toHaveLength(50);
  const moves = (status: string) => shots.filter(({ body }) => body?.includes(`"status":"${status}"`)).map(({ path }) => path);
  expect([new Set(moves('approved')).size, new Set(moves('submitted')).size]).toEqual([100, 50]);
});

test('a mixture ends when the stock does, rather than moving a milestone twice', async () => {
  const { shots } = await loadFor('mixed', books, stock, 50_000, 1);
  const approved = shots.filter(({ body }) => body?.includes('approved'));
  expect(new Set(approved.map(({ path }) => path)).size).toBe(approved.length);
  expect(shots.length).toBeLessThan(50_000);
});

test('the events of a load are counted: exactly where all requests are alike, within what was under way otherwise', async () => {
  const approvals = await loadFor('approve', books, stock, 500, 1);
  expect(eventsMade(approvals, 100, 64)).toEqual([300, 3 * 165]);
  const creations = await loadFor('create', books, stock, 0, 1);
  // Two requests, sent again and again.
  expect(eventsMade(creations, 101, 0)).toEqual([606, 612]);
  const mixed = await loadFor('mixed', books, stock, 1_000, 1);
  const [fewest, most] = eventsMade(mixed, 400, 64);
  // Of 20 requests: two approvals, a submission, a creation.
  expect(fewest).toBeLessThan(20 * 13);
  expect(most).toBeGreaterThan(20 * 13);
});

test('reads change nothing, and only works that move milestones use the stock up', async () => {
  for (const work of works) {
    const load = await loadFor(work, books, stock, 10, 1);
    expect(load.once, work).toBe(['submit', 'approve', 'approve-many', 'mixed'].includes(work));
    if (work === 'read' || work.startsWith('list')) expect(eventsMade(load, 1_000, 64)).toEqual([0, 0]);
  }
});

test('a complete run writes the documents; a shortened one only when told to', () => {
  expect(readOptions([])).toMatchObject({ writes: true, rows: 10_000, isGrowth: false, hasWebhooks: true, hasPaced: true });
  expect(readOptions(['--growth'])).toMatchObject({ writes: true, isGrowth: true, largeRows: 1_000_000, hasWebhooks: false });
  for (const shortening of [['--quick'], ['--only', 'read'], ['--rounds', '1'], ['--servers', 'tranche']]) {
    expect(readOptions(shortening).writes, shortening.join(' ')).toBe(false);
    expect(readOptions([...shortening, '--write']).writes).toBe(true);
  }
});

test('only what is named is measured, and a misspelt name is refused', () => {
  expect(readOptions(['--only', 'approve,read,webhooks'])).toMatchObject({
    works: ['read', 'approve'],
    hasWebhooks: true,
    hasPaced: false,
  });
  expect(() => readOptions(['--only', 'reads'])).toThrow('not reads');
  expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds takes a whole number from 1 to 100');
  // Page 1000 has to exist.
  expect(() => readOptions(['--rows', '9999'])).toThrow('--rows');
});
