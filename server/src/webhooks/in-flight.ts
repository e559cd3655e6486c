// The attempts under way in this process: the places they take, and the writing of their results, many at once.
// Bounded by its caller, who claims no more than there is room for. Decides neither what is sent nor when.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import type { ClaimedDelivery } from '../store/deliveries-queue.ts';
import { type DeliveryResult, type GivenUp, recordResults } from '../store/delivery-results.ts';
import type { Log } from '../store/log.ts';
import type { Deliver, Delivered } from './deliver.ts';
import { createOneAtATime } from './one-at-a-time.ts';
import { createTrust } from './trust.ts';
import { unsentResult } from './unsent.ts';

/** Results of one statement. With answers of up to 16 KiB each it stays below a few MiB. */
const MAX_RESULTS = 200;
/** Results that cannot be written are tried again so often, then let go: their leases end and the deliveries are made again. */
const RECORD_TRIES = 30;
/** An attempt that has not been answered for so long gives its place back: waiting costs nothing but a socket, and others shall not wait. */
const SLOW_AFTER_MS = 1_000;
/** Endpoints that are being disabled at once. One beyond it is left for now: the next webhook to it comes to the same end. */
const MAX_DISABLING = 100;

/** An endpoint that is to be disabled, as it was when that turned out; another address of it is not meant. */
export interface GoneEndpoint {
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
  readonly generation: number;
  readonly reason: string;
  /** Null where it said so itself. */
  readonly failingSince: Date | null;
}

export interface InFlightOptions {
  readonly database: Database;
  readonly deliver: Deliver;
  readonly disableEndpoint: (gone: GoneEndpoint) => Promise<void>;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
  /** Before another try at writing results. */
  readonly pauseMs: number;
  /** Called whenever there is room again. */
  readonly onRoom: () => void;
}

export interface InFlight {
  launch(deliveries: readonly ClaimedDelivery[]): void;
  /** Places taken: attempts under way but those that have become slow. */
  readonly places: number;
  /** Attempts whose result is not written yet, and endpoints that are being disabled. */
  readonly size: number;
  /** Results that wait to be written. */
  readonly unwritten: number;
  /** Whether a delivery is under way here, or its result not written yet. */
  holds(deliveryId: Uuid): boolean;
  /** Attempts under way to an endpoint. */
  busyAt(endpointId: Uuid): number;
  /** Answered attempts of an endpoint whose result waits to be written. */
  answeredBy(endpointId: Uuid): number;
  /** Runs `work` while no result is being written; what is answered meanwhile waits. */
  whileNothingIsWritten<T>(work: () => Promise<T>): Promise<T>;
  /** How many attempts at once the endpoint is trusted with: none while it is being disabled. */
  trustIn(endpointId: Uuid): number;
  /** Waits until every result is written and every disabling has ended, at most so long; after that no result is written any more. */
  drain(timeoutMs: number): Promise<void>;
}

export function createInFlight(options: InFlightOptions): InFlight {
  const { database, deliver, disableEndpoint, now, random, log, pauseMs, onRoom } = options;
  const busy = new Map<Uuid, number>();
  const held = new Set<Uuid>();
  const disabling = new Set<Uuid>();
  const unwritten: Delivered[] = [];
  const trust = createTrust();
  const turns = createOneAtATime();
  const closing = new AbortController();
  let places = 0;
  let isWriting = false;
  let onEmpty: (() => void) | null = null;

  function count(endpointId: Uuid, by: 1 | -1): void {
    const next = (busy.get(endpointId) ?? 0) + by;
    if (next === 0) busy.delete(endpointId);
    else busy.set(endpointId, next);
  }

  async function run(delivery: ClaimedDelivery): Promise<void> {
    const endpointId = delivery.endpoint.id;
    count(endpointId, 1);
    places += 1;
    let isSlow = false;
    const slow = setTimeout(() => {
      isSlow = true;
      places -= 1;
      trust.shrink(endpointId);
      onRoom();
    }, SLOW_AFTER_MS);
    const delivered = await deliver(delivery).catch((error: unknown) => broken(delivery, error));
    clearTimeout(slow);
    count(endpointId, -1);
    if (!isSlow) places -= 1;
    const { verdict } = delivered.result;
    if (verdict === 'acknowledged' && !isSlow) trust.grow(endpointId);
    else if (verdict === 'failed' && !isSlow) trust.shrink(endpointId);
    unwritten.push(delivered);
    onRoom();
    await write();
  }

  /** A defect of ours. It is recorded like any other failure, or it would come back with the end of every lease. */
  function broken(delivery: ClaimedDelivery, error: unknown): Delivered {
    log.error({ err: error, deliveryId: delivery.id, endpointId: delivery.endpoint.id }, 'webhook attempt broke');
    const { workspaceId, id: deliveryId, leaseToken, tries } = delivery;
    const unsent = { workspaceId, deliveryId, endpointId: delivery.endpoint.id, leaseToken, tries };
    const said = "the attempt broke by a defect; the server's log says how";
    return { delivery, endpointGone: false, result: unsentResult(unsent, said, now(), random) };
  }

  const size = (): number => held.size + disabling.size;

  /** Beside the writing of results: it is a command, which may have to wait, and the results of others must not wait for it. */
  async function disable(gone: GoneEndpoint): Promise<void> {
    const { endpointId } = gone;
    if (disabling.size >= MAX_DISABLING || disabling.has(endpointId)) return;
    disabling.add(endpointId);
    try {
      await disableEndpoint(gone);
    } catch (error) {
      // Nothing is lost: the next webhook to this endpoint comes to the same end.
      log.error({ err: error, endpointId }, 'webhook endpoint that is gone could not be disabled');
    }
    disabling.delete(endpointId);
    if (size() === 0) onEmpty?.();
    onRoom();
  }

  /** Writes what can be written. One result that the database refuses must not hold up the others, nor be sent again for ever. */
  async function store(results: readonly DeliveryResult[]): Promise<readonly GivenUp[]> {
    try {
      const { written, givenUp } = await recordResults(database, results, random);
      if (written < results.length) log.warn({ late: results.length - written }, 'webhook results came after their lease was lost');
      return givenUp;
    } catch (error) {
      if (!(error instanceof DatabaseError && error.isData)) throw error;
      if (results.length === 1) {
        const [result] = results as [DeliveryResult];
        log.error(
          { err: error, deliveryId: result.deliveryId },
          'webhook result cannot be written as it is and is written without its details',
        );
        return (await recordResults(database, [withoutDetails(result)], random)).givenUp;
      }
      const middle = Math.ceil(results.length / 2);
      return [...(await store(results.slice(0, middle))), ...(await store(results.slice(middle)))];
    }
  }

  /** Writes the results that wait by the time it is their turn. */
  async function record(): Promise<{ batch: readonly Delivered[]; givenUp: readonly GivenUp[] }> {
    let batch: readonly Delivered[] = [];
    for (let attempt = 1; attempt <= RECORD_TRIES && !closing.signal.aborted; attempt += 1) {
      try {
        const givenUp = await turns.run(() => {
          if (batch.length === 0) batch = unwritten.splice(0, MAX_RESULTS);
          return store(batch.map(({ result }) => result));
        });
        return { batch, givenUp };
      } catch (error) {
        log.error({ err: error, results: batch.length, attempt }, 'webhook results could not be written');
        await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
    return { batch, givenUp: [] };
  }

  /** While one statement runs the next results gather, so the busier it is, the more go at once. */
  async function write(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (unwritten.length > 0 && !closing.signal.aborted) {
      const { batch, givenUp } = await record();
      for (const gone of [...batch.filter(({ endpointGone }) => endpointGone).map(saidGone), ...givenUp.map(failedForLong)])
        void disable(gone);
      for (const { delivery } of batch) held.delete(delivery.id);
      if (size() === 0) onEmpty?.();
      onRoom();
    }
    isWriting = false;
  }

  return {
    launch(deliveries) {
      for (const delivery of deliveries) {
        held.add(delivery.id);
        void run(delivery);
      }
    },
    get places() {
      return places;
    },
    get size() {
      return size();
    },
    get unwritten() {
      return unwritten.length;
    },
    holds: (deliveryId) => held.has(deliveryId),
    busyAt: (endpointId) => busy.get(endpointId) ?? 0,
    answeredBy: (endpointId) => unwritten.reduce((sum, { delivery }) => sum + (delivery.endpoint.id === endpointId ? 1 : 0), 0),
    whileNothingIsWritten: (work) => turns.run(work),
    trustIn: (endpointId) => (disabling.has(endpointId) ? 0 : trust.of(endpointId)),
    async drain(timeoutMs) {
      if (size() > 0) {
        const empty = new Promise<void>((resolve) => {
          onEmpty = resolve;
        });
        const timer = new AbortController();
        await Promise.race([empty, pause(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
        timer.abort();
      }
      closing.abort();
    },
  };
}

const withoutDetails = (result: DeliveryResult): DeliveryResult => ({
  ...result,
  error: result.error === null ? null : 'what went wrong could not be written down; the log of the server has it',
  remoteAddress: null,
  responseHeaders: null,
  responseBody: null,
  responseTruncated: result.responseBody !== null,
});

const saidGone = ({ delivery }: Delivered): GoneEndpoint => ({
  workspaceId: delivery.workspaceId,
  endpointId: delivery.endpoint.id,
  generation: delivery.endpoint.generation,
  reason: 'The endpoint answered 410 Gone.',
  failingSince: null,
});

const failedForLong = ({ workspaceId, endpointId, generation, failingSince }: GivenUp): GoneEndpoint => ({
  workspaceId,
  endpointId,
  generation,
  reason: `Every attempt since ${failingSince.toISOString()} failed.`,
  failingSince,
});
