// The attempts under way: how many there are to each endpoint, and the writing of their results, many at once.
// Bounded by its caller, who claims no more than there is room for. Decides neither what is sent nor when.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { type ClaimedDelivery, recordResults } from '../store/deliveries-queue.ts';
import type { Log } from '../store/log.ts';
import type { Deliver, Delivered } from './deliver.ts';

/** Results of one statement. With answers of up to 16 KiB each it stays below a few MiB. */
const MAX_RESULTS = 100;
/** Results that cannot be written are tried again so often, then let go: their leases end and the deliveries are made again. */
const RECORD_TRIES = 30;

/** An endpoint whose address answered that it wants no more; another address of it is not meant. */
export interface GoneEndpoint {
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
  readonly url: string;
  readonly reason: string;
}

export interface InFlightOptions {
  readonly database: Database;
  readonly deliver: Deliver;
  readonly disableEndpoint: (gone: GoneEndpoint) => Promise<void>;
  readonly log: Log;
  /** Before another try at writing results. */
  readonly pauseMs: number;
  /** Called whenever there is room again. */
  readonly onRoom: () => void;
}

export interface InFlight {
  launch(deliveries: readonly ClaimedDelivery[]): void;
  /** Attempts whose result is not written yet. */
  readonly size: number;
  /** The same, by endpoint. */
  readonly byEndpoint: ReadonlyMap<Uuid, number>;
  /** Waits until every result is written, at most so long; after that no result is written any more. */
  drain(timeoutMs: number): Promise<void>;
}

export function createInFlight({ database, deliver, disableEndpoint, log, pauseMs, onRoom }: InFlightOptions): InFlight {
  const byEndpoint = new Map<Uuid, number>();
  const unwritten: Delivered[] = [];
  const closing = new AbortController();
  let size = 0;
  let isWriting = false;
  let onEmpty: (() => void) | null = null;

  function change(endpointId: Uuid, by: 1 | -1): void {
    const count = (byEndpoint.get(endpointId) ?? 0) + by;
    if (count === 0) byEndpoint.delete(endpointId);
    else byEndpoint.set(endpointId, count);
    size += by;
    if (size === 0) onEmpty?.();
  }

  async function disable(delivery: ClaimedDelivery): Promise<void> {
    try {
      await disableEndpoint({
        workspaceId: delivery.workspaceId,
        endpointId: delivery.endpoint.id,
        url: delivery.endpoint.url,
        reason: 'The endpoint answered 410 Gone.',
      });
    } catch (error) {
      // Nothing is lost: the next webhook to this endpoint gets the same answer.
      log.error({ err: error, endpointId: delivery.endpoint.id }, 'webhook endpoint that is gone could not be disabled');
    }
  }

  async function record(batch: readonly Delivered[]): Promise<void> {
    for (let attempt = 1; attempt <= RECORD_TRIES && !closing.signal.aborted; attempt += 1) {
      try {
        const written = await recordResults(
          database,
          batch.map(({ result }) => result),
        );
        if (written < batch.length) log.warn({ late: batch.length - written }, 'webhook results came after their lease was lost');
        return;
      } catch (error) {
        log.error({ err: error, results: batch.length, attempt }, 'webhook results could not be written');
        await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  /** While one statement runs the next results gather, so the busier it is, the more go at once. */
  async function write(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (unwritten.length > 0 && !closing.signal.aborted) {
      const batch = unwritten.splice(0, MAX_RESULTS);
      await record(batch);
      await Promise.all(batch.filter(({ endpointGone }) => endpointGone).map(({ delivery }) => disable(delivery)));
      for (const { delivery } of batch) change(delivery.endpoint.id, -1);
      onRoom();
    }
    isWriting = false;
  }

  return {
    launch(deliveries) {
      for (const delivery of deliveries) {
        change(delivery.endpoint.id, 1);
        void deliver(delivery).then((delivered) => {
          unwritten.push(delivered);
          return write();
        });
      }
    },
    get size() {
      return size;
    },
    byEndpoint,
    async drain(timeoutMs) {
      if (size > 0) {
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
