// What several processes tell, put together: nothing counted twice, nothing lost.

import { expect, test } from 'vitest';
import { type Family, Histogram, renderFamilies } from '../operations/instruments.ts';
import { gatherFamilies, judgeHealth } from './gather.ts';

const counter = (value: number): Family => ({
  name: 'answers_total',
  help: 'Answers.',
  type: 'counter',
  samples: [{ labels: { status: '200' }, value }],
});
const pending = (samples: Family['samples']): Family => ({
  name: 'pending',
  help: 'Of all.',
  type: 'gauge',
  isOfAll: true,
  samples: samples ?? [],
});
const duration = (value: number): Family => {
  const histogram = new Histogram([1, 2]);
  histogram.observe(value);
  return { name: 'duration', help: 'Seconds.', type: 'histogram', series: [{ histogram }] };
};

test('series carry their process, and what is of all of them is told once, by the first that knows it', () => {
  const text = renderFamilies(
    gatherFamilies([
      { process: '1', families: [counter(3), pending([]), duration(0.5)] },
      { process: '2', families: [counter(4), pending([{ value: 7 }]), duration(1.5)] },
      { process: '3', families: [pending([{ value: 7 }])] },
    ]),
  );
  expect(text.split('\n').filter((line) => !line.startsWith('#') && line !== '')).toEqual([
    'answers_total{status="200",process="1"} 3',
    'answers_total{status="200",process="2"} 4',
    'pending 7',
    'duration_bucket{process="1",le="1"} 1',
    'duration_bucket{process="1",le="2"} 1',
    'duration_bucket{process="1",le="+Inf"} 1',
    'duration_sum{process="1"} 0.5',
    'duration_count{process="1"} 1',
    'duration_bucket{process="2",le="1"} 0',
    'duration_bucket{process="2",le="2"} 1',
    'duration_bucket{process="2",le="+Inf"} 1',
    'duration_sum{process="2"} 1.5',
    'duration_count{process="2"} 1',
  ]);
  expect(text.match(/# TYPE answers_total/g)).toHaveLength(1);
});

test('the whole is ready while one process can work, degraded while one cannot or is missing, and unready when none can', () => {
  const well = { families: [], unready: null, degraded: null };
  expect(judgeHealth([well, well], 2)).toEqual({ unready: null, degraded: null });
  expect(judgeHealth([well], 2)).toEqual({ unready: null, degraded: '1 of 2 processes can work' });
  expect(judgeHealth([well, null], 2).degraded).toBe('1 of 2 processes can work; of another one: it does not answer');
  expect(judgeHealth([{ ...well, degraded: 'webhooks are late' }, well], 2)).toEqual({ unready: null, degraded: 'webhooks are late' });
  expect(judgeHealth([{ ...well, unready: 'the database takes no writes' }, null], 2).unready).toBe('the database takes no writes');
  expect(judgeHealth([], 2).unready).toBe('no process serves yet');
});
