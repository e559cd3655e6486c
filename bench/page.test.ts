// The page of the benchmarks: made of the runs that are there, each with its facts, its picture and its verdicts.
// Writes nothing.

import { expect, test } from 'vitest';
import { againstOf, renderPage } from './page.ts';
import type { Results, Summary } from './results.ts';

const summary = (perSecond: number): Summary => ({
  perSecond,
  slowest: perSecond,
  fastest: perSecond,
  p50Ms: 1,
  p99Ms: 2,
  serviceCpuPerThousand: 0.1,
  databaseCpuPerThousand: 0.2,
  rssMib: 100,
});

const run = (kind: Results['kind'], servers: readonly string[]): Results => ({
  kind,
  command: `npm run of ${kind}`,
  date: '2026-01-02',
  machine: ['Machine: a small one'],
  rows: 10_000,
  rounds: 4,
  seconds: 5,
  works: [{ work: 'read', title: 'Read', servers: Object.fromEntries(servers.map((server, i) => [server, summary(1_000 * (i + 1))])) }],
  paced: [],
  verdicts: [{ what: 'Read : by hand', target: '≥ 3 ×', measured: '2.00 ×', isReached: false }],
  notes: ['Something worth knowing.'],
});

const suite = run('suite', ['bare', 'by hand', 'tranche']);
const growth = run('growth', ['10 thousand', '1 million']);

test('each run that is there has its section, with its facts, its picture and what it did not reach', () => {
  const page = renderPage([growth, suite]);
  expect(page.indexOf('![This service')).toBeLessThan(page.indexOf('![As it grows'));
  for (const part of ['suite.svg', 'growth.svg', 'npm run of suite', 'Machine: a small one', 'Something worth knowing.', 'MISSED'])
    expect(page).toContain(part);
  expect(page).not.toContain('peers.svg');
});

test('before any run it says how to read and how to run it', () => {
  const page = renderPage([]);
  expect(page).toContain('## How to read it');
  expect(page).toContain('## How to run it');
  expect(page).not.toContain('.svg');
});

test('rates are held against the one that the run is about, or the first where that one is missing', () => {
  expect(againstOf(suite)).toBe('by hand');
  expect(againstOf(growth)).toBe('10 thousand');
  expect(againstOf(run('growth', ['20 thousand', '1 million']))).toBe('20 thousand');
  expect(againstOf(run('peers', ['nestjs', 'tranche']))).toBe('tranche');
});
