// The text that a collector reads: its form, and that what is counted adds up.

import { describe, expect, test } from 'vitest';
import { CounterByName, Histogram, renderFamilies } from './instruments.ts';
import { createRequestMeters } from './request-meters.ts';

describe('the text format', () => {
  test('tells each metric with its help, its type and its samples, with labels and help escaped', () => {
    const text = renderFamilies([
      { name: 'a_total', help: 'A\\b\nc', type: 'counter', samples: [{ labels: { x: 'q"\\\n' }, value: 2 }, { value: 0.5 }] },
      { name: 'b', help: 'B', type: 'gauge', samples: [{ value: Number.POSITIVE_INFINITY }, { value: Number.NaN }] },
      { name: 'c', help: 'nothing known', type: 'gauge', samples: [] },
    ]);
    expect(text).toBe(
      '# HELP a_total A\\\\b\\nc\n# TYPE a_total counter\na_total{x="q\\"\\\\\\n"} 2\na_total 0.5\n' +
        '# HELP b B\n# TYPE b gauge\nb +Inf\nb NaN\n# HELP c nothing known\n# TYPE c gauge\n',
    );
  });

  test('a histogram counts each value in its bucket and all above; a bound belongs to its bucket', () => {
    const histogram = new Histogram([1, 2]);
    for (const value of [0.5, 1, 1.5, 99]) histogram.observe(value);
    expect(renderFamilies([{ name: 'h', help: 'H', type: 'histogram', series: [{ labels: { o: 'x' }, histogram }] }])).toBe(
      '# HELP h H\n# TYPE h histogram\nh_bucket{o="x",le="1"} 2\nh_bucket{o="x",le="2"} 3\nh_bucket{o="x",le="+Inf"} 4\nh_sum{o="x"} 102\nh_count{o="x"} 4\n',
    );
  });

  test('a name out of the set counts as another, so that nobody can make series without end', () => {
    const counter = new CounterByName(['a'], 'other');
    counter.add('a');
    counter.add('constructor', 3);
    counter.add('b');
    expect(counter.samples('n')).toEqual([
      { labels: { n: 'a' }, value: 1 },
      { labels: { n: 'other' }, value: 4 },
    ]);
  });
});

test('requests are counted by operation and status, one meter for each operation', () => {
  const meters = createRequestMeters();
  const meter = meters.meterOf('getProject');
  meter.answered(200, 2);
  meter.answered(404, 0.1);
  meters.meterOf('getProject').answered(200, 20_000);
  const [requests, durations] = meters.families();
  expect(requests?.samples).toEqual([
    { labels: { operation: 'getProject', status: '200' }, value: 2 },
    { labels: { operation: 'getProject', status: '404' }, value: 1 },
  ]);
  const [series] = durations?.series ?? [];
  expect(series?.labels).toEqual({ operation: 'getProject' });
  expect(Array.from(series?.histogram.counts ?? []).reduce((sum, count) => sum + count)).toBe(3);
  expect(series?.histogram.sum).toBeCloseTo(20.0021);
});
