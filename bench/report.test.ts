// The arithmetic and the tables of the benchmark: medians, ratios, what counts as a target reached, and that it fits the terminal.
// Measures nothing.

import { expect, test } from 'vitest';
import { parseMeasure } from './load.ts';
import type { Round } from './race.ts';
import { pacedTable, table, verdictTable, WIDTH } from './report.ts';
import { median, summarize, summarizeWork, type WorkResult } from './results.ts';
import { growthTargets, judge, peerTargets, suiteTargets } from './targets.ts';
import { titles, type Work } from './works.ts';

const round = (perSecond: number, more: Partial<Round> = {}): Round => ({
  answers: perSecond * 2,
  perSecond,
  p50Ms: 1,
  p99Ms: 2,
  faults: 0,
  serviceCpuSeconds: 0.5,
  databaseCpuSeconds: 0.25,
  rssBytes: 64 * 2 ** 20,
  ...more,
});

const played = (work: string, rates: Record<string, number[]>): WorkResult =>
  summarizeWork({
    work,
    title: titles[work as Work],
    rounds: new Map(Object.entries(rates).map(([name, all]) => [name, all.map((rate) => round(rate))])),
  });

test('the median is the middle value, or the mean of the two middle ones', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('one slow round does not decide: rates are medians, and the spread is kept', () => {
  expect(summarize([round(250), round(400), round(10)])).toMatchObject({ perSecond: 250, slowest: 10, fastest: 400 });
});

test('processor time is told for 1,000 requests, and not at all where PostgreSQL runs elsewhere', () => {
  expect(summarize([round(500)])).toMatchObject({ serviceCpuPerThousand: 0.5, databaseCpuPerThousand: 0.25, rssMib: 64 });
  expect(summarize([round(500), round(500, { databaseCpuSeconds: null })]).databaseCpuPerThousand).toBeNull();
});

test('refused and broken requests are faults', () => {
  const output =
    'Running 1s test\n  64 connections\n\n{"requests":1000,"duration_us":2000000,"p50_us":1500,"p99_us":9000,"not_ok":3,"broken":1}\n';
  expect(parseMeasure(output)).toEqual({ answers: 1000, perSecond: 500, p50Ms: 1.5, p99Ms: 9, faults: 4 });
});

const paced = [
  { work: 'read', title: 'Read', server: 'tranche', perSecond: 1, p50Ms: 1, p99Ms: 10, lost: 0, generatorLateP99Ms: 1 },
  { work: 'approve', title: 'Approve', server: 'tranche', perSecond: 1, p50Ms: 1, p99Ms: 25.1, lost: 0, generatorLateP99Ms: 1 },
];

test('a ratio is reached at the target and missed below it; what was not measured is neither', () => {
  const works = [
    played('read', { 'by hand': [100], tranche: [300] }),
    played('create', { 'by hand': [100], tranche: [399] }),
    played('approve', { 'by hand': [100], tranche: [500], embedded: [150] }),
  ];
  const verdicts = new Map(judge(suiteTargets, { works, paced }).map((verdict) => [verdict.what, verdict]));
  expect(verdicts.get('Read by id : by hand')).toMatchObject({ measured: '3.00 ×', isReached: true });
  expect(verdicts.get('Read by id : bare')).toMatchObject({ measured: null, isReached: null });
  expect(verdicts.get('Create with 5 milestones : by hand')).toMatchObject({ isReached: false });
  expect(verdicts.get('Approve, embedded : by hand')).toMatchObject({ isReached: true });
  expect(verdicts.get('p99 of reads at half of the maximum')).toMatchObject({ isReached: true });
  expect(verdicts.get('p99 of approvals at half of the maximum')).toMatchObject({ measured: '25.1 ms', isReached: false });
});

test('a page far back may cost at most so much more than the first', () => {
  const cost = (far: number) => {
    const works = [played('list-first', { tranche: [120] }), played('list-far', { tranche: [far] })];
    return judge(suiteTargets, { works, paced: [] }).find(({ what }) => what.startsWith('Time of page'))?.isReached;
  };
  expect([cost(100), cost(99)]).toEqual([true, false]);
});

test('growth holds the large database against the small one, and each peer is to be beaten at each of its works', () => {
  const grown = [played('read', { '10 thousand': [100], '1 million': [79] })];
  expect(judge(growthTargets('10 thousand', '1 million', grown), { works: grown, paced: [] })).toMatchObject([
    { isReached: false, measured: '0.79 ×' },
  ]);
  const beside = [played('read', { tranche: [500], nestjs: [100], strapi: [101] }), played('create', { tranche: [500], nestjs: [10] })];
  const verdicts = judge(peerTargets(['nestjs', 'strapi'], beside), { works: beside, paced: [] });
  expect(verdicts.map(({ isReached }) => isReached)).toEqual([true, false, true]);
});

test('every line fits a terminal of 80 columns, also with large figures', () => {
  const names = { bare: [999_999], 'by hand': [12_345], tranche: [123_456], embedded: [1] };
  const works = [played('Create a project with 5 milestones', names), played('read', { 'by hand': [100] })];
  const slow = summarize([
    round(1, { p99Ms: 60_000, p50Ms: Number.NaN, serviceCpuSeconds: 20, databaseCpuSeconds: 20, rssBytes: 2 ** 33 }),
  ]);
  const texts = [
    table([...works, { work: 'x', title: 'Slow', servers: { embedded: slow } }], 'by hand'),
    pacedTable(paced),
    verdictTable(judge(suiteTargets, { works, paced })),
    verdictTable(judge(growthTargets('10 thousand', '1 million', works), { works, paced })),
    verdictTable(judge(peerTargets(['directus'], [played('create', { directus: [1] })]), { works, paced })),
  ];
  for (const text of texts) for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(WIDTH);
  expect(texts[0]).toContain('10.00 ×');
  expect(texts[2]).toContain('not measured');
  expect(texts[2]).toContain('MISSED');
});
