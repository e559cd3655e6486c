// One attempt: from a claimed delivery to the signed request, and from its answer to the result that is written back.
// Claims nothing, stores nothing and never rejects.

import { encodeId, type Uuid } from '../domain/ids.ts';
import type { SealedSecret } from '../domain/webhook-endpoint.ts';
import type { Cipher } from '../store/cipher.ts';
import type { ClaimedDelivery, DeliveryResult } from '../store/deliveries-queue.ts';
import type { Log } from '../store/log.ts';
import { type Send, type SendResult, sendErrors } from './safe-fetch.ts';
import { decideOutcome } from './schedule.ts';
import { currentSecrets, signatureHeader } from './sign.ts';

/** Opened secrets kept in memory, since opening is work that every attempt would repeat. */
const MAX_OPENED_SECRETS = 1_000;

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

export function createDeliver({ cipher, send, now, random, version, log }: DeliverOptions): Deliver {
  const openSecret = createSecretOpener(cipher);
  const userAgent = `Tranche/${version}`;

  async function attempt(delivery: ClaimedDelivery, startedAt: Date): Promise<SendResult | { kind: 'not_sent' }> {
    const { event, endpoint } = delivery;
    try {
      const secrets = currentSecrets(endpoint.secrets, startedAt).map((secret) => openSecret(secret, endpoint.id));
      const headers = webhookHeaders(delivery, startedAt, secrets);
      return await send({ url: endpoint.url, headers: { ...headers, 'user-agent': userAgent }, body: event.body });
    } catch (error) {
      // A defect or an unreadable secret. It counts as an attempt, or it would be tried again at the end of every lease for ever.
      log.error({ err: error, deliveryId: delivery.id, endpointId: endpoint.id }, 'webhook could not be sent');
      return { kind: 'not_sent' };
    }
  }

  return async (delivery) => {
    const startedAt = now();
    const sent = await attempt(delivery, startedAt);
    const endedAt = now();
    const answered = sent.kind === 'answered' ? sent : { statusCode: null, retryAfter: null, body: null };
    const outcome = decideOutcome(delivery.attempts + 1, answered, endedAt, random);
    return {
      delivery,
      endpointGone: outcome.status === 'failed' && outcome.endpointGone,
      result: {
        workspaceId: delivery.workspaceId,
        deliveryId: delivery.id,
        leaseToken: delivery.leaseToken,
        status: outcome.status,
        nextAttemptAt: outcome.status === 'pending' ? outcome.nextAttemptAt : null,
        startedAt,
        endedAt,
        statusCode: answered.statusCode,
        error: errorText(sent),
        responseBody: answered.body,
      },
    };
  };
}

/** `code: what it means`, for the attempts log; null when an answer arrived, which speaks for itself by its status. */
function errorText(sent: SendResult | { kind: 'not_sent' }): string | null {
  if (sent.kind === 'answered') return null;
  if (sent.kind === 'failed') return `${sent.error}: ${sendErrors[sent.error]}`;
  return "not_sent: the webhook could not be prepared; the server's log says why";
}

/**
 * The headers of one attempt. `webhook-id`, `Tranche-Seq` and `Tranche-Prev-Seq` are the same at every attempt, the others are of this one.
 * `Tranche-Prev-Seq` is absent on the first webhook that an endpoint is given.
 */
export function webhookHeaders(delivery: ClaimedDelivery, sentAt: Date, secrets: readonly string[]): Record<string, string> {
  if (secrets.length === 0) throw new Error('An endpoint without a secret that signs: nothing is sent unsigned.');
  const id = encodeId('event', delivery.event.id);
  const timestampSeconds = Math.floor(sentAt.getTime() / 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatureHeader({ id, timestampSeconds, body: delivery.event.body, secrets }),
    'Tranche-Seq': String(delivery.eventSeq),
    ...(delivery.previousSeq === null ? {} : { 'Tranche-Prev-Seq': String(delivery.previousSeq) }),
    'Tranche-Attempt': String(delivery.attempts + 1),
  };
}

/** Opens secrets, each sealed for its endpoint's id. The oldest of the cache makes room; a sealed text never changes its meaning. */
function createSecretOpener(cipher: Cipher): (secret: SealedSecret, endpointId: Uuid) => string {
  const opened = new Map<string, string>();
  return ({ sealed }, endpointId) => {
    const key = `${endpointId} ${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = cipher.open(sealed, endpointId);
    const oldest = opened.keys().next();
    if (opened.size >= MAX_OPENED_SECRETS && oldest.done !== true) opened.delete(oldest.value);
    opened.set(key, secret);
    return secret;
  };
}
