// A delivery: one event on its way to one endpoint, and the attempts made so far.
// Pure; sends nothing and decides no schedule.

import type { EventType } from './event.ts';
import type { Uuid } from './ids.ts';

/** What is over becomes pending again only because somebody asked for it. */
export const deliveryMoves = {
  pending: ['succeeded', 'failed', 'cancelled'],
  succeeded: ['pending'],
  failed: ['pending'],
  cancelled: ['pending'],
} as const satisfies Record<string, readonly string[]>;

export type DeliveryStatus = keyof typeof deliveryMoves;
export const deliveryStatuses = Object.keys(deliveryMoves) as [DeliveryStatus, ...DeliveryStatus[]];

export interface Delivery {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
  readonly eventId: Uuid;
  readonly eventType: EventType;
  readonly eventSeq: number;
  /** Of the event before it that this endpoint was given a delivery of; null for the first. */
  readonly previousSeq: number | null;
  readonly status: DeliveryStatus;
  /** How many attempts have ended. */
  readonly attempts: number;
  /** When the next attempt is due; while one is under way, when its lease ends. Null once completed. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** Why no answer arrived, as a word for programs. */
export const attemptErrorKinds = [
  'invalid_url',
  'blocked_address',
  'dns_not_found',
  'dns_failed',
  'dns_timeout',
  'connection_refused',
  'connection_reset',
  'connect_timeout',
  'host_unreachable',
  'connection_failed',
  'tls_error',
  'timeout',
  'invalid_response',
  'not_sent',
] as const;
export type AttemptErrorKind = (typeof attemptErrorKinds)[number];

export interface DeliveryAttempt {
  /** 1, 2, 3 … within the delivery. */
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null when no answer arrived; then `error` says why. */
  readonly statusCode: number | null;
  readonly errorKind: AttemptErrorKind | null;
  readonly error: string | null;
  /** The address that was connected to, or tried last. */
  readonly remoteAddress: string | null;
  /** Null when no answer arrived. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The beginning of the answer. */
  readonly responseBody: string | null;
  /** The answer went on after that. */
  readonly responseTruncated: boolean;
}
