// The status of a delivery, and of a repair, in their words.
// Their tones stand here, since "succeeded" and "stopped" belong to nothing else.

import type { ReactNode } from 'react';
import type { DeliveryStatus, WebhookRepair } from '../../client/sdk.ts';
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx';

const tones: Readonly<Record<DeliveryStatus, Tone>> = { pending: 'info', succeeded: 'good', failed: 'bad', cancelled: 'neutral' };

export const deliveryStatuses: readonly DeliveryStatus[] = ['pending', 'succeeded', 'failed', 'cancelled'];

/** A pending delivery that was tried before waits for its next attempt. */
export function DeliveryBadge({ status, attempts }: { readonly status: DeliveryStatus; readonly attempts: number }): ReactNode {
  return status === 'pending' && attempts > 0 ? (
    <StatusBadge status="pending" label="Retrying" tone="attention" />
  ) : (
    <StatusBadge status={status} tone={tones[status]} />
  );
}

const repairTones: Readonly<Record<WebhookRepair['status'], Tone>> = {
  pending: 'info',
  running: 'info',
  completed: 'good',
  stopped: 'neutral',
};

export function RepairBadge({ repair: { status, dry_run } }: { readonly repair: WebhookRepair }): ReactNode {
  if (dry_run && status === 'completed') return <StatusBadge status="counted" tone="neutral" />;
  return <StatusBadge status={status} tone={repairTones[status]} />;
}
