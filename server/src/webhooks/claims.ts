// One pass of claiming: who has something due, who gets how many of the places that are free, and the claim itself.
// Sends nothing. What it remembers of endpoints is where it stopped looking; forgetting it is harmless.

import { roomFrom, roomOf } from '../domain/endpoint-flow.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { findHeads, type Heads } from '../store/deliveries-in-order.ts';
import { cancelWaiting, claimDue, type Grant, lessAnswered } from '../store/deliveries-queue.ts';
import { findWaiting, type WaitingEndpoint } from '../store/deliveries-waiting.ts';
import type { EndpointKey } from '../store/endpoint-flows.ts';
import type { Log } from '../store/log.ts';
import type { InFlight } from './in-flight.ts';
import type { Rest } from './loop.ts';
import { shareOut } from './share.ts';

/** Attempts held at once, slow ones and unwritten results included, for each place of the worker. */
const HELD_PER_PLACE = 16;
/** Results that wait to be written: beyond it the database is behind, and nothing is claimed. */
const MAX_UNWRITTEN = 1_000;
/** Endpoints that one claim locks. */
const MAX_GRANTS = 200;
/** Endpoints with ordered deliveries that one pass looks at; the next pass goes on with the others. */
const MAX_ORDERED = 50;
/** Instead of the project to go on after: this round has looked at all projects of the endpoint. */
const LOOKED_AT = 'all';

/** However soon the next moment is at which something may be sent: moments of many endpoints are taken together. */
const SHORTEST_REST_MS = 10;
/** After a claim that got nothing, since somebody held it or had it already. */
const MISSED_REST_MS = 25;

export interface ClaimsOptions {
  readonly database: Database;
  readonly inFlight: InFlight;
  /** Attempts under way at once that are quick; slow ones give their places back. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** What a lease has more than an attempt takes. A claim that takes longer to be answered leaves an attempt too little of it. */
  readonly leaseMarginMs: number;
  readonly owner: Uuid;
  readonly now: () => Date;
  readonly newId: () => Uuid;
  readonly log: Log;
  /** Once aborted, nothing more is claimed. */
  readonly signal: AbortSignal;
}

/** Returns a pass, which tells whether to go on at once, or when. */
export function createClaims({
  database,
  inFlight,
  concurrency,
  leaseMs,
  leaseMarginMs,
  owner,
  now,
  newId,
  log,
  signal,
}: ClaimsOptions): () => Promise<boolean | Rest> {
  // Of the present round over the endpoints that asked for order; it ends when all of them have been looked at.
  const lookedUpTo = new Map<Uuid, Uuid | typeof LOOKED_AT>();
  let phase = 0;

  function freePlaces(): { total: number; taken: number } {
    const holdable = concurrency * HELD_PER_PLACE - inFlight.size;
    if (inFlight.unwritten >= MAX_UNWRITTEN || holdable <= 0) return { total: 0, taken: 0 };
    return { total: Math.min(concurrency, inFlight.places + holdable), taken: inFlight.places };
  }

  /** Whose turn it is at endpoints that asked for order, and whether the round over them goes on. */
  async function lookAtOrdered(open: readonly WaitingEndpoint[], time: Date): Promise<{ heads: Map<Uuid, Heads>; isLooking: boolean }> {
    const ordered = open.filter(({ hasOrdered }) => hasOrdered).map(({ flow }) => keyOf(flow));
    const isLeft = ({ endpointId }: EndpointKey): boolean => lookedUpTo.get(endpointId) !== LOOKED_AT;
    if (!ordered.some(isLeft)) lookedUpTo.clear();
    const asked = ordered.filter(isLeft).slice(0, MAX_ORDERED);
    const found = await findHeads(
      database,
      asked.map((key) => ({ ...key, after: lookedUpTo.get(key.endpointId) ?? null })),
      time,
    );
    for (const { endpointId, next } of found) lookedUpTo.set(endpointId, next ?? LOOKED_AT);
    return { heads: new Map(found.map((heads) => [heads.endpointId, heads])), isLooking: ordered.some(isLeft) };
  }

  function grantsFor(open: readonly WaitingEndpoint[], heads: ReadonlyMap<Uuid, Heads>, time: Date): Grant[] {
    const asking = open.map(({ flow, caps, dueAt }) => {
      const turns = heads.get(flow.endpointId)?.heads ?? [];
      const busy = inFlight.busyAt(flow.endpointId);
      const free = roomOf(lessAnswered(flow, inFlight.answeredBy(flow.endpointId)), caps, time);
      const room = Math.min(free, inFlight.trustIn(flow.endpointId) - busy);
      return { busy, room: dueAt === null ? Math.min(room, turns.length) : room, dueAt: dueAt ?? turns[0]?.dueAt ?? time };
    });
    const shares = shareOut(asking, freePlaces(), MAX_GRANTS);
    return open
      .map(({ flow }, i) => ({
        ...keyOf(flow),
        share: shares[i] as number,
        answered: inFlight.answeredBy(flow.endpointId),
        heads: heads.get(flow.endpointId)?.heads ?? [],
      }))
      .filter(({ share }) => share > 0);
  }

  /** Until the earliest moment at which something may be sent that may not be now. What an answer makes room for, the answer rings for. */
  function restFor(open: readonly WaitingEndpoint[], heads: ReadonlyMap<Uuid, Heads>, nextDueAt: Date | null, time: Date): Rest | false {
    const due = open.filter(({ flow, dueAt }) => dueAt !== null || (heads.get(flow.endpointId)?.heads.length ?? 0) > 0);
    const opening = due.map(({ flow, caps }) => roomFrom(lessAnswered(flow, inFlight.answeredBy(flow.endpointId)), caps, time));
    const moments = [nextDueAt, ...[...heads.values()].map((each) => each.nextDueAt), ...opening].filter((moment) => moment !== null);
    if (moments.length === 0) return false;
    const earliestMs = moments.reduce((least, moment) => Math.min(least, moment.getTime()), Number.POSITIVE_INFINITY);
    const isPaced = due.some(({ caps }, i) => caps.rateLimitPerSecond !== null && opening[i] !== null);
    return { restMs: Math.max(SHORTEST_REST_MS, earliestMs - now().getTime()), isSettled: !isPaced };
  }

  return async () => {
    if (freePlaces().total <= inFlight.places) return false;
    const time = now();
    const { endpoints: waiting, nextDueAt } = await findWaiting(database, time);
    const closed = waiting.filter(({ isOpen }) => !isOpen);
    const cancelled = await cancelWaiting(
      database,
      closed.map(({ flow }) => keyOf(flow)),
      time,
    );
    const open = waiting.filter(({ isOpen }) => isOpen);
    const { heads, isLooking } = await lookAtOrdered(open, time);
    phase += 1;
    // Between counting what was answered and the claim no result may be written, or it would count twice.
    let grants: readonly Grant[] = [];
    let claimedFromMs = 0;
    const { deliveries, missed } = await inFlight.whileNothingIsWritten(() => {
      claimedFromMs = now().getTime();
      if (!signal.aborted) grants = grantsFor(open, heads, time);
      return claimDue(database, { grants, leaseMs, owner, now, newToken: newId, phase });
    });
    if (now().getTime() - claimedFromMs <= leaseMarginMs) inFlight.launch(deliveries);
    else if (deliveries.length > 0)
      log.warn({ late: deliveries.length }, 'webhooks were claimed too late to be sent; their leases end first');
    if (deliveries.length > 0 || missed > 0 || cancelled > 0 || isLooking) return true;
    if (grants.length > 0) return { restMs: MISSED_REST_MS, isSettled: false };
    return restFor(open, heads, nextDueAt, time);
  };
}

const keyOf = ({ workspaceId, endpointId }: EndpointKey): EndpointKey => ({ workspaceId, endpointId });
