// Who gets how many places, and how much an endpoint is trusted with. Tables; no worker runs.

import { describe, expect, test } from 'vitest';
import { type Asking, shareOut } from './share.ts';
import { createTrust } from './trust.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const asking = (busy: number, room: number, waitedMs = 0): Asking => ({ busy, room, dueAt: new Date(START - waitedMs) });

describe('places', () => {
  test.each<[string, Asking[], number, number, number[]]>([
    ['one endpoint takes the shared places', [asking(0, 100)], 64, 0, [56]],
    ['no more than it has room for', [asking(0, 5)], 64, 0, [5]],
    ['two share evenly, however long the one has waited', [asking(0, 100, 9e6), asking(0, 100)], 64, 0, [28, 28]],
    ['who has attempts under way waits until the others have as many', [asking(3, 100), asking(0, 100)], 8, 3, [0, 4]],
    ['with few places the longest waiting come first', [asking(0, 9), asking(0, 9, 50), asking(0, 9, 70)], 2, 0, [0, 1, 1]],
    ['the places kept back are for those that have nothing under way', [asking(8, 8), asking(0, 8), asking(0, 8)], 64, 56, [0, 1, 1]],
    ['none is left', [asking(0, 8)], 64, 64, [0]],
    ['nobody has room', [asking(4, 0)], 64, 4, [0]],
    ['nobody asks', [], 64, 0, []],
  ])('%s', (_case, endpoints, total, taken, expected) => {
    expect(shareOut(endpoints, { total, taken }, 100)).toEqual(expected);
  });

  test('where only so many endpoints can have one, they are those whose turn it is, and all places are theirs', () => {
    const endpoints = [asking(2, 9, 90), asking(0, 9), asking(0, 9, 50), asking(0, 0, 99), asking(0, 9, 70)];
    expect(shareOut(endpoints, { total: 8, taken: 2 }, 2)).toEqual([0, 0, 2, 0, 3]);
  });
});

describe('trust', () => {
  test('begins small, grows with each acknowledgement, halves with each failure and never goes below one', () => {
    const trust = createTrust();
    expect(trust.of('a')).toBe(4);
    for (let i = 0; i < 12; i++) trust.grow('a');
    expect(trust.of('a')).toBe(16);
    trust.shrink('a');
    expect(trust.of('a')).toBe(8);
    for (let i = 0; i < 10; i++) trust.shrink('a');
    expect(trust.of('a')).toBe(1);
    expect(trust.of('b')).toBe(4);
    for (let i = 0; i < 1_000; i++) trust.grow('b');
    expect(trust.of('b')).toBe(256);
  });

  test('remembers a bounded number of endpoints, the latest ones', () => {
    const trust = createTrust();
    trust.shrink('first');
    for (let i = 0; i < 10_000; i++) trust.shrink(`endpoint ${i}`);
    expect(trust.of('first')).toBe(4);
    expect(trust.of('endpoint 9999')).toBe(2);
  });
});
