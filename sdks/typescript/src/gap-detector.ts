// Sees from the numbers on webhooks that some have not come, and reads those from the event log.
// Keeps the highest number seen and nothing else; where that outlives the process is the caller's choice.

import type { Event, EventType, ListEventsQuery } from './generated/types.ts';
import type { WebhookEvent } from './webhooks.ts';

export interface GapDetectorOptions {
  /** The highest `seq` handled so far, from where it was stored. Without it, or with 0, the first webhook that is shown begins the count. */
  readonly lastSeq?: number | null | undefined;
  /** The kinds of event that the endpoint is sent; others are no gap. Default: all kinds. */
  readonly eventTypes?: readonly EventType[] | undefined;
}

/** The part of a webhook that matters here. */
export interface Numbered {
  readonly seq: number | null;
  readonly prevSeq: number | null;
}

export interface Observation {
  /** Whether it was seen before, or read from the event log when it was missing: there is nothing left to do for it. */
  readonly duplicate: boolean;
  /** What should have come before it and did not, oldest first, as the event log has it; `webhookEventOf` makes webhooks of these. */
  readonly missing: readonly Event[];
}

const PAGE = 100;

/** A record of the event log in the form of the webhook that told, or should have told, of it. */
export function webhookEventOf({ type, data, id, seq, created_at }: Event): WebhookEvent {
  // That each kind has its own data is known of records as of webhooks, but not to the type of records.
  return { event: type, data, id, timestamp: new Date(created_at), seq, prevSeq: null, attempt: null } as unknown as WebhookEvent;
}

export class GapDetector {
  readonly #events: (query: ListEventsQuery) => AsyncIterable<Event>;
  readonly #types: ReadonlySet<EventType> | null;
  #lastSeq: number | null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(events: (query: ListEventsQuery) => AsyncIterable<Event>, { lastSeq, eventTypes }: GapDetectorOptions) {
    this.#events = events;
    this.#types = eventTypes === undefined ? null : new Set(eventTypes);
    // Numbers begin at 1, so that a store that begins with 0 says no more than one that is empty.
    this.#lastSeq = lastSeq || null;
  }

  /** The highest `seq` seen. Store it once what was observed has been handled. */
  get lastSeq(): number | null {
    return this.#lastSeq;
  }

  /** Shows it a webhook. From then on that one, and what is returned as missing, counts as seen. */
  observe(webhook: Numbered): Promise<Observation> {
    return this.#inTurn(async () => {
      const observation = await this.#look(webhook);
      this.#advance(webhook.seq);
      return observation;
    });
  }

  /**
   * Calls `handle` for what is missing, in the form of a webhook as well, and then for the webhook itself, and counts each as seen only when
   * it is done: after a failure, the next attempt of the webhook begins where this one failed. Duplicates are not handled again.
   */
  process<Webhook extends Numbered>(webhook: Webhook, handle: (one: Webhook | WebhookEvent) => unknown): Promise<Observation> {
    return this.#inTurn(async () => {
      const observation = await this.#look(webhook);
      for (const event of observation.missing) {
        await handle(webhookEventOf(event));
        this.#advance(event.seq);
      }
      if (!observation.duplicate) await handle(webhook);
      this.#advance(webhook.seq);
      return observation;
    });
  }

  /** One after another: two webhooks that come at once must not both find the same gap. */
  #inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(step);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #advance(seq: number | null): void {
    if (seq !== null) this.#lastSeq = Math.max(this.#lastSeq ?? 0, seq);
  }

  async #look({ seq, prevSeq }: Numbered): Promise<Observation> {
    const last = this.#lastSeq;
    if (seq === null || last === null) return { duplicate: false, missing: [] };
    if (seq <= last) return { duplicate: true, missing: [] };
    const missing: Event[] = [];
    if (prevSeq === null || prevSeq <= last) return { duplicate: false, missing };
    for await (const event of this.#events({ after_seq: last, limit: PAGE })) {
      if (event.seq >= seq) break;
      if (this.#types?.has(event.type) !== false) missing.push(event);
    }
    return { duplicate: false, missing };
  }
}
