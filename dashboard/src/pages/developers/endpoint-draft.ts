// An endpoint as its form holds it, and what of it is sent: all of a new one, only the changes of one that exists.
// Pure.

import type {
  EndpointOrdering,
  EventType,
  SignatureScheme,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointUpdate,
} from '../../client/sdk.ts';
import { defaultEventTypes } from './event-kinds.ts';

export interface HeaderDraft {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

export interface EndpointDraft {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly EventType[];
  readonly schemes: readonly SignatureScheme[];
  readonly ordering: EndpointOrdering;
  readonly maxConcurrency: number;
  /** Null: as many as there are. */
  readonly perSecond: number | null;
  /** Headers that are set; those that exist keep their values, which nobody can read. */
  readonly headers: readonly HeaderDraft[];
  readonly removedHeaders: readonly string[];
}

export const MAX_HEADERS = 10;
const DEFAULT_CONCURRENCY = 16;

export const newDraft: EndpointDraft = {
  url: '',
  description: '',
  eventTypes: defaultEventTypes,
  schemes: ['v1'],
  ordering: 'none',
  maxConcurrency: DEFAULT_CONCURRENCY,
  perSecond: null,
  headers: [],
  removedHeaders: [],
};

export const draftOf = (endpoint: WebhookEndpoint): EndpointDraft => ({
  url: endpoint.url,
  description: endpoint.description ?? '',
  eventTypes: endpoint.event_types,
  schemes: endpoint.signature_schemes,
  ordering: endpoint.ordering,
  maxConcurrency: endpoint.max_concurrency,
  perSecond: endpoint.rate_limit_per_second,
  headers: [],
  removedHeaders: [],
});

const headersOf = ({ headers }: EndpointDraft): Record<string, string> =>
  Object.fromEntries(headers.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]));

export function creationOf(draft: EndpointDraft): WebhookEndpointCreate {
  const { url, description, eventTypes, schemes, ordering, maxConcurrency, perSecond } = draft;
  return {
    url: url.trim(),
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    event_types: eventTypes,
    signature_schemes: schemes,
    headers: headersOf(draft),
    max_concurrency: maxConcurrency,
    rate_limit_per_second: perSecond,
    ordering,
  };
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one) => others.includes(one));

/** Only what differs, so that a change by somebody else to another field stays. */
export function updateOf(draft: EndpointDraft, endpoint: WebhookEndpoint): WebhookEndpointUpdate {
  const headers = { ...Object.fromEntries(draft.removedHeaders.map((name) => [name, null])), ...headersOf(draft) };
  return {
    ...(draft.url.trim() === endpoint.url ? {} : { url: draft.url.trim() }),
    ...(draft.description.trim() === (endpoint.description ?? '') ? {} : { description: draft.description.trim() || null }),
    ...(isSame(draft.eventTypes, endpoint.event_types) ? {} : { event_types: draft.eventTypes }),
    ...(isSame(draft.schemes, endpoint.signature_schemes) ? {} : { signature_schemes: draft.schemes }),
    ...(draft.ordering === endpoint.ordering ? {} : { ordering: draft.ordering }),
    ...(draft.maxConcurrency === endpoint.max_concurrency ? {} : { max_concurrency: draft.maxConcurrency }),
    ...(draft.perSecond === endpoint.rate_limit_per_second ? {} : { rate_limit_per_second: draft.perSecond }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}
