// The kinds of event with their meaning, and those that an endpoint is sent where it names none.
// Pure; a test holds the list against the API's document.

import type { EventType } from '../../client/sdk.ts';

export const eventKinds = {
  'project.created': 'A project was created',
  'project.archived': 'A project was archived',
  'milestone.created': 'A milestone was created',
  'milestone.submitted': 'A milestone was submitted',
  'milestone.changes_requested': 'Changes were requested',
  'milestone.approved': 'A milestone was approved',
  'milestone.cancelled': 'A milestone was cancelled',
  'payment.released': 'A payment was released',
  'invoice.issued': 'An invoice was issued',
  'webhook_endpoint.disabled': 'An endpoint was disabled by the service',
} as const satisfies Record<EventType, string>;

export const eventTypes = Object.keys(eventKinds) as readonly EventType[];

export const defaultEventTypes: readonly EventType[] = ['project.created', 'milestone.submitted', 'milestone.approved', 'payment.released'];

export const eventTypeOptions = eventTypes.map((value) => ({ value, label: value }));
