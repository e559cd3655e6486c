// One attempt: from a claimed delivery to the signed request, and from its answer to the result that is written back.
// Claims nothing, stores nothing and never rejects.

import type { KeyObject } from 'node:crypto';
import { encodeId } from '../domain/ids.ts';
import type { Cipher } from '../store/cipher.ts';
import type { ClaimedDelivery } from '../store/deliveries-queue.ts';
import type { DeliveryResult } from '../store/delivery-results.ts';
import type { Log } from '../store/log.ts';
import type { Send, SendResult } from './safe-fetch.ts';
import { decideOutcome, holdMsOf, verdictOf } from './schedule.ts';
import { createSeals, type Seals } from './seals.ts';
import { currentSecrets, signatureHeader } from './sign.ts';

export interface DeliverOptions {
  readonly cipher: Cipher;
  readonly send: Send;
  readonly now: () => Date;
  /** Evenly spread over 0 to 1; for the jitter of retries. */
  readonly random: () => number;
  /** The version in the user-agent header. */
  readonly version: string;
  readonly log: Log;
}

export interface Delivered {
  readonly delivery: ClaimedDelivery;
  readonly result: DeliveryResult;
  /** The endpoint answered 410: it wants no more webhooks. */
  readonly endpointGone: boolean;
}

export type Deliver = (delivery: ClaimedDelivery) => Promise<Delivered>;

const notSent: SendResult = {
  kind: 'failed',
  error: 'not_sent',
  detail: "the webhook could not be prepared; the server's log says why",
  remoteAddress: null,
};

export function createDeliver({ cipher, send, now, random, version, log }: DeliverOptions): Deliver {
  const seals = createSeals(cipher);
  const userAgent = `Tranche/${version}`;

  async function attempt(delivery: ClaimedDelivery, startedAt: Date): Promise<SendResult> {
    const { event, endpoint } = delivery;
    try {
      const headers = {
        ...ownHeaders(delivery, seals),
        ...webhookHeaders(delivery, startedAt, signersOf(delivery, startedAt, seals)),
        'user-agent': userAgent,
      };
      return await send({ url: endpoint.url, headers, body: event.body });
    } catch (error) {
      // A defect or an unreadable secret. It counts as an attempt, or it would be tried again at the end of every lease for ever.
      log.error({ err: error, deliveryId: delivery.id, endpointId: endpoint.id }, 'webhook could not be sent');
      return notSent;
    }
  }

  return async (delivery) => {
    const startedAt = now();
    const sent = await attempt(delivery, startedAt);
    const endedAt = now();
    const answer = sent.kind === 'answered' ? sent : null;
    const told = { statusCode: answer?.statusCode ?? null, retryAfter: answer?.retryAfter ?? null };
    const outcome = decideOutcome(delivery.tries + 1, told, endedAt, random);
    return {
      delivery,
      endpointGone: outcome.status === 'failed' && outcome.endpointGone,
      result: {
        workspaceId: delivery.workspaceId,
        deliveryId: delivery.id,
        leaseToken: delivery.leaseToken,
        endpointId: delivery.endpoint.id,
        generation: delivery.endpoint.generation,
        verdict: sent.kind === 'failed' && sent.error === 'not_sent' ? 'unsent' : verdictOf(told.statusCode),
        holdMs: holdMsOf(told, endedAt),
        status: outcome.status,
        nextAttemptAt: outcome.status === 'pending' ? outcome.nextAttemptAt : null,
        startedAt,
        endedAt,
        ...recordOf(sent),
      },
    };
  };
}

type AttemptRecord = Pick<
  DeliveryResult,
  'statusCode' | 'errorKind' | 'error' | 'remoteAddress' | 'responseHeaders' | 'responseBody' | 'responseTruncated'
>;

/** What is kept of an attempt. */
function recordOf(sent: SendResult): AttemptRecord {
  const { remoteAddress } = sent;
  if (sent.kind === 'failed') {
    const { error: errorKind, detail: error } = sent;
    return { statusCode: null, errorKind, error, remoteAddress, responseHeaders: null, responseBody: null, responseTruncated: false };
  }
  return {
    statusCode: sent.statusCode,
    errorKind: null,
    error: null,
    remoteAddress,
    responseHeaders: sent.headers,
    responseBody: sent.body,
    responseTruncated: sent.truncated,
  };
}

/** What signs an attempt, opened. */
export interface Signers {
  readonly secrets: readonly KeyObject[];
  readonly keys: readonly KeyObject[];
}

/** The secrets and keys of the schemes that the endpoint asked for, of which during a rotation there are several. */
export function signersOf({ endpoint }: Pick<ClaimedDelivery, 'endpoint'>, now: Date, seals: Seals): Signers {
  const { id, signatureSchemes } = endpoint;
  const secrets = signatureSchemes.includes('v1') ? currentSecrets(endpoint.secrets, now) : [];
  const keys = signatureSchemes.includes('v1a') ? currentSecrets(endpoint.signingKeys, now) : [];
  return {
    secrets: secrets.map(({ sealed }) => seals.openSecret(sealed, id)),
    keys: keys.map(({ sealed }) => seals.openKey(sealed, id)),
  };
}

function ownHeaders({ endpoint }: ClaimedDelivery, seals: Seals): Record<string, string> {
  return Object.fromEntries(endpoint.headers.map(({ name, sealed }) => [name, seals.openHeader(name, sealed, endpoint.id)]));
}

/**
 * The headers of one attempt. `webhook-id`, `Tranche-Seq` and `Tranche-Prev-Seq` are the same at every attempt, the others are of this one.
 * `Tranche-Prev-Seq` is absent on the first webhook that an endpoint is given.
 */
export function webhookHeaders(delivery: ClaimedDelivery, sentAt: Date, { secrets, keys }: Signers): Record<string, string> {
  if (secrets.length + keys.length === 0) throw new Error('An endpoint without a secret or key that signs: nothing is sent unsigned.');
  const id = encodeId('event', delivery.event.id);
  const timestampSeconds = Math.floor(sentAt.getTime() / 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatureHeader({ id, timestampSeconds, body: delivery.event.body, secrets, keys }),
    'Tranche-Seq': String(delivery.eventSeq),
    ...(delivery.previousSeq === null ? {} : { 'Tranche-Prev-Seq': String(delivery.previousSeq) }),
    'Tranche-Attempt': String(delivery.attempts + 1),
  };
}
