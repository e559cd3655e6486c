// What a repair is asked to do, as its dialog holds it, and the words for it.
// Pure.

import type { DeliveryStatus, EventType, WebhookRepair, WebhookRepairAction, WebhookRepairCreate } from '../../client/sdk.ts';

export interface RepairDraft {
  readonly action: WebhookRepairAction;
  readonly endpointId: string | undefined;
  readonly statuses: readonly DeliveryStatus[];
  readonly eventTypes: readonly EventType[];
  readonly projectId: string;
  /** As fields of date and time hold them: in the viewer's zone; empty for none. */
  readonly since: string;
  readonly until: string;
}

const momentOf = (local: string): string => new Date(local).toISOString();

export function repairOf(draft: RepairDraft, dryRun: boolean): WebhookRepairCreate {
  const { action, endpointId, statuses, eventTypes, projectId, since, until } = draft;
  return {
    action,
    dry_run: dryRun,
    ...(endpointId === undefined ? {} : { endpoint_id: endpointId }),
    ...(action === 'replay' ? { statuses } : {}),
    ...(eventTypes.length === 0 ? {} : { event_types: eventTypes }),
    ...(projectId.trim() === '' ? {} : { project_id: projectId.trim() }),
    ...(since === '' ? {} : { since: momentOf(since) }),
    ...(until === '' ? {} : { until: momentOf(until) }),
  };
}

export const isReady = ({ action, statuses, since }: RepairDraft): boolean => {
  if (action === 'recover') return since !== '';
  return action === 'cancel' || statuses.length > 0;
};

export const counted = (count: number, action: WebhookRepairAction): string => {
  if (action === 'recover') return count === 1 ? '1 event' : `${count} events`;
  return count === 1 ? '1 delivery' : `${count} deliveries`;
};

const verbs: Readonly<Record<WebhookRepairAction, string>> = { replay: 'Replay', recover: 'Recover', cancel: 'Cancel' };
export const verbOf = (action: WebhookRepairAction): string => verbs[action];

export const isOver = ({ status }: Pick<WebhookRepair, 'status'>): boolean => status === 'completed' || status === 'stopped';

/** `failed deliveries, payment.released`. */
export function filterText({ action, statuses, event_types, project_id }: WebhookRepair): string {
  const what = action === 'replay' ? `${statuses.join(', ')} deliveries` : action === 'recover' ? 'missed events' : 'waiting deliveries';
  return [what, ...(event_types ?? []), ...(project_id === null ? [] : [project_id])].join(', ');
}
