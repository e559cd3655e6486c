// Hints that something changed of which no event tells: the kinds of records per workspace, never what about them.
// Pure. For people who look at a page; nothing may rely on one to arrive.

import type { Changes } from './decision.ts';
import type { Uuid } from './ids.ts';

/** The kinds of records that changed in each workspace, named as their paths are. */
export type ChangeHints = ReadonlyMap<Uuid, ReadonlySet<string>>;

const resources = {
  projects: 'projects',
  milestones: 'milestones',
  invoices: 'invoices',
  payments: 'payments',
  apiKeys: 'api_keys',
  webhookEndpoints: 'webhook_endpoints',
  webhookRepairs: 'webhook_repairs',
  members: 'members',
  invitations: 'invitations',
  people: null,
  deliveries: 'deliveries',
  settings: 'workspace',
  closesWorkspace: 'workspace',
  audit: 'audit_entries',
  entries: null,
  events: null,
} as const satisfies Record<keyof Changes, string | null>;

export const allChangedResources: readonly string[] = [...new Set(Object.values(resources).filter((name) => name !== null))];

/** Events tell of their change by themselves, so what comes with some needs no hint; that is every write that there are many of. */
export function quietResourcesOf(changes: Changes): readonly string[] {
  if (changes.events !== undefined && changes.events.length > 0) return [];
  return (Object.keys(changes) as (keyof Changes)[]).flatMap((name) => {
    const resource = resources[name];
    const change = changes[name];
    return resource === null || (Array.isArray(change) && change.length === 0) ? [] : [resource];
  });
}

/** A payload of a notification may have 8,000 bytes; a workspace with every kind takes some 200. */
const WORKSPACES_OF_A_TEXT = 30;

/** `workspace:kind+kind,workspace:kind`, as many texts as it takes. */
export function hintTexts(hints: ChangeHints): string[] {
  const parts = Array.from(hints, ([workspaceId, kinds]) => `${workspaceId}:${[...kinds].join('+')}`);
  return Array.from({ length: Math.ceil(parts.length / WORKSPACES_OF_A_TEXT) }, (_, n) =>
    parts.slice(n * WORKSPACES_OF_A_TEXT, (n + 1) * WORKSPACES_OF_A_TEXT).join(','),
  );
}

export function readHintText(text: string): ReadonlyMap<Uuid, readonly string[]> {
  return new Map(
    text.split(',').map((part): [Uuid, string[]] => {
      const [workspaceId = '', kinds = ''] = part.split(':');
      return [workspaceId, kinds.split('+')];
    }),
  );
}
