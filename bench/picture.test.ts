// The picture of the benchmark: bars in proportion, every name and figure in it, well-formed, and colours for light and dark.
// Looks at the text of the SVG; draws nothing.

import { expect, test } from 'vitest';
import { picture } from './picture.ts';
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
const works: WorkResult[] = [
  { work: 'read', title: 'Read & <write>', servers: { bare: summary(50_000), tranche: summary(25_000) } },
  { work: 'create', title: 'Create', servers: { 'by hand': summary(1), embedded: summary(10_000) } },
];

test('bars are as long as their figures within a work, and none vanishes', () => {
  const widths = [...picture(works, 'Title', 'Note').matchAll(/<rect [^>]*width="(\d+)"/g)].map(([, width]) => Number(width));
  expect(widths).toEqual([540, 270, 2, 540]);
});

test('names, titles and figures are in it, and nothing in them can break the picture', () => {
  const text = picture(works, 'A "title"', 'Note');
  for (const part of ['Read &amp; &lt;write&gt;', '>50,000<', '>by hand<', 'aria-label="A &quot;title&quot;"'])
    expect(text).toContain(part);
  expect(text.match(/<(?:text|svg)\b/g)?.length).toBe(text.match(/<\/(?:text|svg)>/g)?.length);
});

test('its colours follow the reader’s: dark on light, light on dark', () => {
  const text = picture(works, 'Title', 'Note');
  expect(text).toMatch(/fill: #1f2328;[\s\S]*prefers-color-scheme: dark[\s\S]*fill: #f0f6fc/);
  expect(text).toContain('class="own"');
  expect(text).toContain('class="second"');
});

test('it is high enough for all its bars', () => {
  const text = picture(works, 'Title', 'Note');
  const height = Number(/height="(\d+)" role/.exec(text)?.[1]);
  const lowest = Math.max(...[...text.matchAll(/<rect [^>]*y="(\d+)"/g)].map(([, y]) => Number(y) + 16));
  expect(lowest).toBeLessThan(height);
});
