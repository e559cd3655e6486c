// The circuit breaker and the caps as tables: what an endpoint's record is, what happens, what it is then.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  breakerLimits,
  type EndpointFlow,
  type EndpointHealth,
  healthAtClaim,
  isGivenUp,
  type Judged,
  judge,
  paceMs,
  paidFrom,
  roomFrom,
  roomOf,
  unharmed,
} from './endpoint-flow.ts';

const START = new Date('2026-01-01T00:00:00.000Z');
const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);
const middle = (): number => 0.5;
const attempt = (verdict: Judged['verdict'], seconds = 0, holdMs: number | null = null): Judged => ({
  verdict,
  endedAt: at(seconds),
  holdMs,
});
const failed = (seconds = 0, holdMs: number | null = null): Judged => attempt('failed', seconds, holdMs);
const acknowledged = attempt('acknowledged');
const flow = (health: Partial<EndpointHealth> = {}, fields: Partial<EndpointFlow> = {}): EndpointFlow => ({
  workspaceId: 'w',
  endpointId: 'e',
  inFlight: 0,
  paidUntil: null,
  health: { ...unharmed, ...health },
  ...fields,
});
const caps = { maxConcurrency: 8, rateLimitPerSecond: null };

describe('the breaker', () => {
  const failing = { failures: 3, failingSince: at(-60) };
  const open: Partial<EndpointHealth> = { breaker: 'open', failures: 10, openings: 1, probeAt: at(5), failingSince: at(-60) };
  const halfOpen: Partial<EndpointHealth> = { breaker: 'half_open', failures: 10, openings: 2, allowance: 1, failingSince: at(-60) };

  test.each<[string, Partial<EndpointHealth>, Judged[], Partial<EndpointHealth>]>([
    ['a failure is counted and begins the failing', {}, [failed(7)], { failures: 1, failingSince: at(7) }],
    ['further failures do not move its beginning', failing, [failed(7), failed(8)], { failures: 5, failingSince: at(-60) }],
    ['one acknowledgement forgets them', failing, [acknowledged], {}],
    ['what was our own fault says nothing', failing, [attempt('unsent')], failing],
    ['nine failures in a row leave it closed', {}, Array(9).fill(failed()), { failures: 9, failingSince: START }],
    [
      'the tenth opens it, and the first probe is five seconds away',
      {},
      Array(10).fill(failed()),
      { breaker: 'open', failures: 10, openings: 1, probeAt: at(5), failingSince: START },
    ],
    [
      'nine, an acknowledgement and nine more leave it closed',
      {},
      [...Array(9).fill(failed()), acknowledged, ...Array(9).fill(failed())],
      { failures: 9, failingSince: START },
    ],
    ['failures that come after it opened do not prolong the pause', open, [failed(1), failed(2)], { ...open, failures: 12 }],
    [
      'an acknowledgement that comes after it opened makes it half open',
      open,
      [acknowledged],
      { breaker: 'half_open', openings: 1, allowance: 2 },
    ],
    [
      'a probe that fails opens it again, for longer',
      halfOpen,
      [failed()],
      { ...halfOpen, breaker: 'open', failures: 11, openings: 3, probeAt: at(20) },
    ],
    [
      'a probe that is acknowledged lets two through at once',
      halfOpen,
      [acknowledged],
      { breaker: 'half_open', openings: 2, allowance: 2 },
    ],
    ['five in a row close it', halfOpen, Array(5).fill(acknowledged), {}],
    [
      'a failure among them opens it again',
      halfOpen,
      [acknowledged, acknowledged, failed(1)],
      { breaker: 'open', failures: 1, openings: 3, probeAt: at(21), failingSince: at(1) },
    ],
    [
      'the pause ends at five minutes',
      { ...halfOpen, openings: 50 },
      [failed()],
      { ...halfOpen, breaker: 'open', failures: 11, openings: 51, probeAt: at(300) },
    ],
    ['a receiver may ask for a pause of everything', {}, [failed(0, 30_000)], { failures: 1, failingSince: START, resumeAt: at(30) }],
    ['of five minutes at most', {}, [failed(0, 86_400_000)], { failures: 1, failingSince: START, resumeAt: at(300) }],
    ['the longest one asked for counts', {}, [failed(0, 30_000), failed(1, 1_000)], { failures: 2, failingSince: START, resumeAt: at(30) }],
    ['an acknowledgement ends that pause', { resumeAt: at(30) }, [acknowledged], {}],
  ])('%s', (_case, before, attempts, after) => {
    expect(judge({ ...unharmed, ...before }, attempts, middle)).toEqual({ ...unharmed, ...after });
  });

  test('pauses vary by a fifth, so that endpoints that fell together are not probed together', () => {
    const probe = (random: number) => judge(unharmed, Array(10).fill(failed()), () => random).probeAt;
    expect([probe(0), probe(1)]).toEqual([at(4), at(6)]);
  });

  test.each<[string, Partial<EndpointHealth>, number, Date, number]>([
    ['closed: the cap less what is under way', {}, 3, START, 5],
    ['closed and over the cap, which was lowered', {}, 12, START, 0],
    ['open: nothing before the probe', open, 0, at(4), 0],
    ['open: one probe when its time has come', open, 0, at(5), 1],
    ['open: no probe while older attempts are under way', open, 2, at(5), 0],
    ['half open: one at first', halfOpen, 0, START, 1],
    ['half open: none beside the probe', halfOpen, 1, START, 0],
    ['half open: as many as were acknowledged and one', { ...halfOpen, allowance: 4 }, 1, START, 3],
    ['half open: never above the cap', { ...halfOpen, allowance: 100 }, 0, START, 8],
    ['asked for a pause: nothing until then', { resumeAt: at(30) }, 0, at(29), 0],
    ['asked for a pause that is over', { resumeAt: at(30) }, 0, at(30), 8],
    ['asked for the longest pause, judged by a look that began before the answer', { resumeAt: at(300) }, 0, at(-1), 0],
    ['open for the longest time, judged by a look that began before the answer', { ...open, probeAt: at(360) }, 0, at(-1), 0],
    ['a clock put back by a day does not prolong an open breaker', open, 0, at(-86_400), 1],
    ['a clock put back by a day does not prolong a pause', { resumeAt: at(30) }, 0, at(-86_400), 8],
  ])('room: %s', (_case, health, inFlight, now, room) => {
    expect(roomOf(flow(health, { inFlight }), caps, now)).toBe(room);
  });

  test('a claim on an open breaker makes it half open; on any other it changes nothing', () => {
    expect(healthAtClaim({ ...unharmed, ...open })).toEqual({ ...unharmed, ...open, breaker: 'half_open', probeAt: null });
    expect(healthAtClaim({ ...unharmed, ...failing })).toEqual({ ...unharmed, ...failing });
  });

  test.each<[string, Partial<EndpointHealth>, boolean]>([
    ['failing for five days in ten attempts', { failures: 10, failingSince: at(-5 * 86_400) }, true],
    ['a millisecond less', { failures: 10, failingSince: new Date(at(-5 * 86_400).getTime() + 1) }, false],
    ['in fewer attempts', { failures: 9, failingSince: at(-50 * 86_400) }, false],
    ['not failing', {}, false],
  ])('given up: %s', (_case, health, expected) => {
    expect(isGivenUp({ ...unharmed, ...health }, START)).toBe(expected);
  });

  test('whatever happens, the endpoint is probed again within the longest pause', () => {
    const step = fc.record({
      verdict: fc.constantFrom('acknowledged', 'failed', 'unsent') as fc.Arbitrary<Judged['verdict']>,
      holdMs: fc.option(fc.nat(1e9)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), (steps, random) => {
        const after = judge(
          unharmed,
          steps.map((s) => ({ ...s, endedAt: START })),
          () => random,
        );
        const longestMs = breakerLimits.longestPauseMs * (1 + breakerLimits.jitter);
        expect(roomOf(flow(after), caps, new Date(START.getTime() + longestMs))).toBeGreaterThan(0);
      }),
    );
  });
});

describe('the rate cap', () => {
  test.each([
    1, 2, 7, 10, 25, 100, 999, 10_000,
  ])('%d a second: no second sees more, and a long run comes close to it (I-22)', (perSecond) => {
    const limited = { maxConcurrency: 1_000_000, rateLimitPerSecond: perSecond };
    const begun: number[] = [];
    let paidUntil: Date | null = null;
    for (let ms = 0; ms < 5_000; ms += 7) {
      const now = new Date(START.getTime() + ms);
      const room = roomOf(flow({}, { paidUntil }), limited, now);
      if (room === 0) continue;
      for (let i = 0; i < room; i += 1) begun.push(ms);
      paidUntil = new Date(Math.ceil(paidFrom(paidUntil, perSecond, now).getTime() + room * paceMs(perSecond)));
    }
    let first = 0;
    let most = 0;
    begun.forEach((ms, i) => {
      while ((begun[first] as number) <= ms - 1_000) first += 1;
      most = Math.max(most, i - first + 1);
    });
    expect(most).toBeLessThanOrEqual(perSecond);
    expect(begun.length).toBeGreaterThan(perSecond * 5 * 0.75);
  });

  test('what somebody with a time a little ahead has begun counts (I-22)', () => {
    for (const aheadMs of [1, 50, 1_000, 9_000]) {
      const paidUntil = new Date(START.getTime() + 1_000 + aheadMs);
      expect(roomOf(flow({}, { paidUntil }), { maxConcurrency: 8, rateLimitPerSecond: 1 }, START)).toBe(0);
    }
  });

  test.each([
    1, 2, 3, 10, 25, 999,
  ])('%d a second: when it is used up, there is room at the moment that is named, and none of it is lost', (perSecond) => {
    const limited = { maxConcurrency: 1_000_000, rateLimitPerSecond: perSecond };
    const full = roomOf(flow(), limited, START);
    const paidUntil = new Date(Math.ceil(START.getTime() + full * paceMs(perSecond)));
    const moment = roomFrom(flow({}, { paidUntil }), limited, START) as Date;
    expect(moment.getTime()).toBeGreaterThan(START.getTime());
    const room = roomOf(flow({}, { paidUntil }), limited, moment);
    expect(room).toBeGreaterThan(0);
    expect(room).toBeLessThanOrEqual(Math.ceil(full / 2));
    expect(roomFrom(flow({}, { paidUntil }), limited, moment)).toBeNull();
  });

  test.each<[string, Partial<EndpointHealth>, number, Date | null]>([
    ['nothing holds it', {}, 3, null],
    ['only answers make room', {}, 8, null],
    ['a pause', { resumeAt: at(30) }, 0, at(30)],
    ['an open breaker', { breaker: 'open', probeAt: at(5) }, 0, at(5)],
    ['an open breaker while an attempt is under way', { breaker: 'open', probeAt: at(5) }, 1, null],
    ['an open breaker whose pause is over', { breaker: 'open', probeAt: at(-1) }, 0, null],
  ])('the moment from which there is room: %s', (_case, health, inFlight, moment) => {
    expect(roomFrom(flow(health, { inFlight }), caps, START)).toEqual(moment);
  });

  test('a clock put back does not hold an endpoint', () => {
    expect(roomOf(flow({}, { paidUntil: at(86_400) }), { maxConcurrency: 8, rateLimitPerSecond: 1 }, START)).toBe(1);
  });
});
