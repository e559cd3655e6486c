// A webhook that tells of nothing that happened: signed like any other, marked by a header, and stored nowhere.
// Makes its headers and body; sends nothing.

import { allEventTypes, type EventType } from '../domain/event.ts';
import { encodeId, type Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { webhookPayloads } from '../schemas/webhook-payloads.ts';
import { signersOf } from './deliver.ts';
import type { Seals } from './seals.ts';
import { signatureHeader } from './sign.ts';

export interface Sample {
  readonly eventId: string;
  /** What may be shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** The endpoint's own, which are as secret as passwords. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A webhook that no kind of event has, for a diagnosis. */
export const PING_BODY = JSON.stringify({ event: 'ping', data: {} });

const samples = Object.fromEntries(webhookPayloads.map(({ type, example }) => [type, JSON.stringify(example)]));
for (const type of allEventTypes) if (samples[type] === undefined) throw new Error(`There is no sample of ${type}.`);

/** The body of a sample, exactly as the document shows it. */
export const sampleBody = (type: EventType): string => samples[type] as string;

/** Without `Tranche-Seq` and `Tranche-Prev-Seq`: it has no place in the log, and a receiver that looks for gaps must not see one. */
export function makeSample(endpoint: WebhookEndpoint, body: string, now: Date, newId: () => Uuid, seals: Seals, version: string): Sample {
  const eventId = encodeId('event', newId());
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const { secrets, keys } = signersOf({ endpoint: { ...endpoint, generation: 0 } }, now, seals);
  return {
    eventId,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Tranche/${version}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': signatureHeader({ id: eventId, timestampSeconds, body, secrets, keys }),
      'Tranche-Attempt': '1',
      'Tranche-Test': 'true',
    },
    ownHeaders: Object.fromEntries(endpoint.headers.map(({ name, sealed }) => [name, seals.openHeader(name, sealed, endpoint.id)])),
    body,
  };
}
