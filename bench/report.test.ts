// The arithmetic of the benchmark: medians, ratios, and what counts as a target reached.
// Measures nothing.

import { expect, test } from 'vitest';
import { type Measure, parseMeasure } from './load.ts';
import { judge, median, type Scenario, scenarioTable, summarize, verdictTable } from './report.ts';

const round = (perSecond: number): Measure => ({ answers: perSecond, perSecond, p50Ms: 1, p99Ms: 2, faults: 0 });
const reads: Scenario = {
  title: 'Read',
  rounds: new Map([
    ['by hand', [round(100), round(120), round(90)]],
    ['tranche', [round(250), round(400), round(10)]],
  ]),
};

test('the median is the middle value, or the mean of the two middle ones', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('one slow round does not decide: rates are medians, and the spread is shown', () => {
  expect(summarize(reads.rounds.get('tranche') ?? [])).toMatchObject({ perSecond: 250, slowest: 10, fastest: 400 });
  expect(scenarioTable(reads)).toContain('10–400');
});

test('a ratio is reached at the target and missed below it', () => {
  const verdicts = judge(
    [reads],
    [
      { scenario: 'Read', against: 'by hand', atLeast: 2.5 },
      { scenario: 'Read', against: 'by hand', atLeast: 2.6 },
      { scenario: 'Read', against: 'bare', atLeast: 0.5 },
    ],
  );
  expect(verdicts.map((verdict) => verdict.ratio)).toEqual([2.5, 2.5, null]);
  const lines = verdictTable(verdicts).split('\n').slice(2);
  expect(lines[0]).toContain('reached');
  expect(lines[1]).toContain('MISSED');
  expect(lines[2]).toContain('not measured');
});

test('refused and broken requests are faults', () => {
  const output =
    'Running 1s test\n  64 connections\n\n{"requests":1000,"duration_us":2000000,"p50_us":1500,"p99_us":9000,"not_ok":3,"broken":1}\n';
  expect(parseMeasure(output)).toEqual({ answers: 1000, perSecond: 500, p50Ms: 1.5, p99Ms: 9, faults: 4 });
});
