// The judgement of the regression guard: a halved ratio breaks it, a fair one does not, and what is missing does.
// Measures nothing.

import { expect, test } from 'vitest';
import { bounds, checkBounds, describe } from './guard-bounds.ts';
import type { Summary, WorkResult } from './results.ts';

const summary = (perSecond: number): Summary => ({
  perSecond,
  slowest: perSecond,
  fastest: perSecond,
  p50Ms: 1,
  p99Ms: 1,
  serviceCpuPerThousand: 1,
  databaseCpuPerThousand: 1,
  rssMib: 1,
});
const result = (work: string, own: number, byHand: number | null): WorkResult => ({
  work,
  title: work,
  servers: { tranche: summary(own), ...(byHand === null ? {} : { 'by hand': summary(byHand) }) },
});

test('what a ratio is as a rule is kept, and half of its bound is not', () => {
  const usual = bounds.map(({ work, atLeast }) => result(work, 2 * atLeast * 1_000, 1_000));
  expect(checkBounds(usual).every(({ isKept }) => isKept)).toBe(true);
  const slower = bounds.map(({ work, atLeast }) => result(work, 0.99 * atLeast * 1_000, 1_000));
  expect(checkBounds(slower).some(({ isKept }) => isKept)).toBe(false);
});

test('a ratio that could not be measured is not kept', () => {
  const [check] = checkBounds([result('read', 1_000, null)]);
  expect(check).toMatchObject({ measured: null, isKept: false });
});

test('only what was measured again is judged again, and every comparison is printed', () => {
  const checks = checkBounds([result('approve', 1_000, 1_000)]);
  expect(checks).toHaveLength(1);
  expect(describe(checks)).toMatch(/approve +1\.00 × +≥ 2\.5 × {2}BROKEN/);
});
