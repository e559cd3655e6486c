// The scopes of keys as people choose them: in groups, with their meaning, and in sets for what keys are mostly made for.
// Pure. The server decides what a scope allows; a test holds this list against the API's document.

import type { Scope } from '../../client/sdk.ts';

export interface ScopeChoice {
  readonly scope: Scope;
  readonly label: string;
}

export interface ScopeGroup {
  readonly label: string;
  readonly scopes: readonly ScopeChoice[];
}

export const scopeGroups: readonly ScopeGroup[] = [
  {
    label: 'Projects',
    scopes: [
      { scope: 'projects:read', label: 'Read' },
      { scope: 'projects:write', label: 'Create, edit, archive' },
    ],
  },
  {
    label: 'Milestones',
    scopes: [
      { scope: 'milestones:read', label: 'Read' },
      { scope: 'milestones:write', label: 'Create, edit, cancel' },
      { scope: 'milestones:submit', label: 'Start, submit, withdraw' },
      { scope: 'milestones:approve', label: 'Approve, request changes' },
    ],
  },
  {
    label: 'Money',
    scopes: [
      { scope: 'payments:read', label: 'Read payments' },
      { scope: 'payments:release', label: 'Release payments' },
      { scope: 'invoices:read', label: 'Read invoices' },
    ],
  },
  {
    label: 'Events and webhooks',
    scopes: [
      { scope: 'events:read', label: 'Read the event log' },
      { scope: 'webhooks:read', label: 'Read endpoints, deliveries' },
      { scope: 'webhooks:write', label: 'Manage endpoints, replay' },
    ],
  },
  {
    label: 'Workspace',
    scopes: [
      { scope: 'workspace:read', label: 'Read settings' },
      { scope: 'workspace:write', label: 'Change settings' },
      { scope: 'workspace:own', label: 'Ownership, closing' },
      { scope: 'members:read', label: 'Read members' },
      { scope: 'members:write', label: 'Invite, change roles, remove' },
    ],
  },
  {
    label: 'Keys and logs',
    scopes: [
      { scope: 'api_keys:read', label: 'List keys' },
      { scope: 'api_keys:write', label: 'Create, rotate, revoke keys' },
      { scope: 'audit:read', label: 'Read the audit log' },
      { scope: 'request_log:read', label: 'Read requests and usage' },
    ],
  },
];

export const allScopes: readonly Scope[] = scopeGroups.flatMap(({ scopes }) => scopes.map(({ scope }) => scope));

export interface Preset {
  readonly label: string;
  readonly scopes: readonly Scope[];
}

const reading: readonly Scope[] = ['projects:read', 'milestones:read', 'payments:read', 'invoices:read', 'events:read', 'webhooks:read'];

export const presets: readonly Preset[] = [
  { label: 'Read only', scopes: reading },
  { label: 'Run projects', scopes: [...reading, 'projects:write', 'milestones:write', 'milestones:submit'] },
  {
    label: 'Approve and release',
    scopes: ['projects:read', 'milestones:read', 'milestones:approve', 'payments:read', 'payments:release', 'invoices:read'],
  },
  { label: 'Webhooks', scopes: ['events:read', 'webhooks:read', 'webhooks:write'] },
];

const tried: readonly (readonly [Scope, string])[] = [
  ['projects:read', '/v1/projects?limit=3'],
  ['milestones:read', '/v1/milestones?limit=3'],
  ['payments:read', '/v1/payments?limit=3'],
  ['invoices:read', '/v1/invoices?limit=3'],
  ['events:read', '/v1/events?limit=3'],
  ['webhooks:read', '/v1/webhook_endpoints'],
  ['workspace:read', '/v1/workspace'],
  ['members:read', '/v1/members'],
  ['api_keys:read', '/v1/api_keys'],
  ['audit:read', '/v1/audit_entries?limit=3'],
  ['request_log:read', '/v1/usage'],
];

/** A request that a key with these scopes may send and that changes nothing; undefined where there is none. */
export const pathToTry = (scopes: readonly Scope[]): string | undefined => tried.find(([scope]) => scopes.includes(scope))?.[1];
