// How much may go to an endpoint now: its caps, the pause it asked for and its circuit breaker, as pure functions over one record.
// Pure: time and randomness are handed in; sends and stores nothing. Shared by all processes through the table webhook_flows.

import type { Uuid } from './ids.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const breakerStates = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof breakerStates)[number];

export const breakerLimits = {
  /** Failed attempts in a row, over all processes, that open a closed breaker. */
  failuresToOpen: 10,
  /** The pause before the first probe; doubles with every opening, up to the longest one. */
  firstPauseMs: 5 * SECOND_MS,
  longestPauseMs: 5 * MINUTE_MS,
  /** A pause is up to this share shorter or longer, so that endpoints that fell together are not probed together. */
  jitter: 0.2,
  /** Acknowledged attempts in a row that close a half-open breaker. Each lets one more through at once. */
  acknowledgementsToClose: 5,
  /** The longest pause of everything that a receiver can ask for by 429 or 503 with Retry-After; a single delivery may wait longer. */
  longestHoldMs: 5 * MINUTE_MS,
  /** Failing without an acknowledged attempt in between for so long, and in so many attempts, ends in disabling. */
  givenUpAfterMs: 5 * DAY_MS,
  givenUpAfterFailures: 10,
} as const;

export interface EndpointCaps {
  /** Attempts under way at once. */
  readonly maxConcurrency: number;
  /** Attempts begun in any one second; null: no cap. */
  readonly rateLimitPerSecond: number | null;
}

/** What is known of an endpoint's health; resets with its generation, that is with a new address or when it is enabled again. */
export interface EndpointHealth {
  readonly breaker: BreakerState;
  /** Failed attempts since the last acknowledged one. */
  readonly failures: number;
  /** Times that it opened since it was last closed. */
  readonly openings: number;
  /** Attempts at once while half open. */
  readonly allowance: number;
  /** When an open breaker lets the next probe through. */
  readonly probeAt: Date | null;
  /** Until then the receiver asked to be left alone. */
  readonly resumeAt: Date | null;
  readonly failingSince: Date | null;
}

export interface EndpointFlow {
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
  /** Attempts under way, in all processes. */
  readonly inFlight: number;
  /** When the attempts begun so far are paid for under the rate cap; null: long ago. */
  readonly paidUntil: Date | null;
  readonly health: EndpointHealth;
}

export const unharmed: EndpointHealth = {
  breaker: 'closed',
  failures: 0,
  openings: 0,
  allowance: 1,
  probeAt: null,
  resumeAt: null,
  failingSince: null,
};

/** What one attempt says about its endpoint. `unsent`: nothing, since it was our own fault. */
export type Verdict = 'acknowledged' | 'failed' | 'unsent';

export interface Judged {
  readonly verdict: Verdict;
  readonly endedAt: Date;
  /** The pause asked for by 429 or 503, null where none was. */
  readonly holdMs: number | null;
}

/** How many attempts may begin now. */
export function roomOf(flow: EndpointFlow, caps: EndpointCaps, now: Date): number {
  const { health } = flow;
  if (isAhead(health.resumeAt, now, breakerLimits.longestHoldMs)) return 0;
  if (health.breaker === 'open') {
    // A probe is one attempt by itself: those under way from before the opening end first, or it would tell nothing.
    return isAhead(health.probeAt, now, LONGEST_PROBE_PAUSE_MS) || flow.inFlight > 0 ? 0 : 1;
  }
  const atOnce = health.breaker === 'half_open' ? Math.min(health.allowance, caps.maxConcurrency) : caps.maxConcurrency;
  return Math.max(0, Math.min(atOnce - flow.inFlight, rateRoom(flow.paidUntil, caps.rateLimitPerSecond, now)));
}

/**
 * When there will be room by the passing of time alone; null where there is some now, or where only an answer makes some. Under a rate cap the
 * moment when half a burst may go, so that nobody comes for each attempt by itself and none of the cap is lost.
 */
export function roomFrom(flow: EndpointFlow, caps: EndpointCaps, now: Date): Date | null {
  const { resumeAt, probeAt, breaker } = flow.health;
  if (isAhead(resumeAt, now, breakerLimits.longestHoldMs)) return resumeAt;
  if (breaker === 'open') return flow.inFlight === 0 && isAhead(probeAt, now, LONGEST_PROBE_PAUSE_MS) ? probeAt : null;
  const perSecond = caps.rateLimitPerSecond;
  if (perSecond === null || rateRoom(flow.paidUntil, perSecond, now) > 0) return null;
  const unpaidMs = Math.floor(burstOf(perSecond) / 2) * paceMs(perSecond);
  return new Date(Math.ceil(paidFrom(flow.paidUntil, perSecond, now).getTime() - unpaidMs));
}

/** The health with which attempts begin: an open breaker whose pause is over becomes half open by its probe. */
export function healthAtClaim(health: EndpointHealth): EndpointHealth {
  return health.breaker === 'open' ? { ...health, breaker: 'half_open', allowance: 1, probeAt: null } : health;
}

const LONGEST_PROBE_PAUSE_MS = breakerLimits.longestPauseMs * (1 + breakerLimits.jitter);

/** The times of those who set a moment and those who judge it differ by less: they follow one clock, and one may have waited for a lock. */
const CLOCK_SLACK_MS = 10 * SECOND_MS;

/** Whether a moment is still to come. One much further ahead than it can have been set was set by a clock that has been put back since. */
function isAhead(moment: Date | null, now: Date, longestMs: number): boolean {
  if (moment === null) return false;
  const aheadMs = moment.getTime() - now.getTime();
  return aheadMs > 0 && aheadMs <= longestMs + CLOCK_SLACK_MS;
}

// --- the rate cap ---------------------------------------------------------------------------------------------------------------------

/** Claims come at intervals, so some attempts are let through together: a tenth of a second's worth. */
const burstOf = (perSecond: number): number => Math.max(1, Math.floor(perSecond / 10));

/** The pace at which, with such bursts, no second sees more attempts begin than the cap. */
export const paceMs = (perSecond: number): number => SECOND_MS / (perSecond - burstOf(perSecond) + 1);

function rateRoom(paidUntil: Date | null, perSecond: number | null, now: Date): number {
  if (perSecond === null) return Number.POSITIVE_INFINITY;
  const burst = burstOf(perSecond);
  const pace = paceMs(perSecond);
  const unpaidMs = Math.max(0, paidFrom(paidUntil, perSecond, now).getTime() - now.getTime());
  return Math.max(0, Math.floor(burst - unpaidMs / pace + 1e-6));
}

/** From when the next attempts are paid: the end of what is paid already, or now; a moment that cannot be is taken for now. */
export function paidFrom(paidUntil: Date | null, perSecond: number, now: Date): Date {
  const longestMs = (burstOf(perSecond) + 1) * paceMs(perSecond) + 1;
  return paidUntil !== null && isAhead(paidUntil, now, longestMs) ? paidUntil : now;
}

// --- the circuit breaker --------------------------------------------------------------------------------------------------------------

/** The health after some attempts ended, in the order they ended in. It counts attempts, whichever deliveries they belong to. */
export function judge(health: EndpointHealth, attempts: readonly Judged[], random: () => number): EndpointHealth {
  let next = health;
  for (const attempt of attempts) {
    if (attempt.verdict === 'acknowledged') next = afterAcknowledged(next);
    else if (attempt.verdict === 'failed') next = afterFailed(next, attempt, random);
  }
  return next;
}

function afterAcknowledged(health: EndpointHealth): EndpointHealth {
  const well = { ...health, failures: 0, failingSince: null, resumeAt: null };
  if (health.breaker === 'closed') return well;
  // One that was under way when it opened is as good as a probe.
  const allowance = (health.breaker === 'open' ? 1 : health.allowance) + 1;
  if (allowance > breakerLimits.acknowledgementsToClose) return unharmed;
  return { ...well, breaker: 'half_open', allowance, probeAt: null };
}

function afterFailed(health: EndpointHealth, { endedAt, holdMs }: Judged, random: () => number): EndpointHealth {
  const failing: EndpointHealth = {
    ...health,
    failures: health.failures + 1,
    failingSince: health.failingSince ?? endedAt,
    resumeAt: later(health.resumeAt, holdMs === null ? null : new Date(endedAt.getTime() + Math.min(holdMs, breakerLimits.longestHoldMs))),
  };
  if (health.breaker === 'open') return failing;
  if (health.breaker === 'closed' && failing.failures < breakerLimits.failuresToOpen) return failing;
  const openings = health.openings + 1;
  const pauseMs = Math.min(breakerLimits.firstPauseMs * 2 ** Math.min(openings - 1, 30), breakerLimits.longestPauseMs);
  const jittered = Math.round(pauseMs * (1 + breakerLimits.jitter * (2 * random() - 1)));
  return { ...failing, breaker: 'open', openings, allowance: 1, probeAt: new Date(endedAt.getTime() + jittered) };
}

const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a);

/** Whether an endpoint has failed for so long that it is to be disabled. */
export function isGivenUp(health: EndpointHealth, now: Date): boolean {
  const { failingSince, failures } = health;
  if (failingSince === null || failures < breakerLimits.givenUpAfterFailures) return false;
  return now.getTime() - failingSince.getTime() >= breakerLimits.givenUpAfterMs;
}
