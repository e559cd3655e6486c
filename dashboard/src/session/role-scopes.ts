// What each role may do, so that pages offer only that. The server decides; a test holds this table against its own.
// Pure.

import type { Role, Scope } from '../client/sdk.ts';

const reading: readonly Scope[] = [
  'projects:read',
  'milestones:read',
  'payments:read',
  'invoices:read',
  'events:read',
  'webhooks:read',
  'workspace:read',
  'members:read',
];

/** What owners alone may. */
const ownersOnly: readonly Scope[] = ['workspace:own'];

const held: Readonly<Record<Exclude<Role, 'owner' | 'admin'>, readonly Scope[]>> = {
  developer: [
    ...reading,
    'projects:write',
    'milestones:write',
    'milestones:submit',
    'webhooks:write',
    'api_keys:read',
    'api_keys:write',
    'audit:read',
    'request_log:read',
  ],
  finance: [...reading, 'api_keys:read', 'milestones:approve', 'payments:release', 'workspace:write', 'audit:read', 'request_log:read'],
  viewer: reading,
};

export function roleHolds(role: Role, scope: Scope): boolean {
  if (role === 'owner') return true;
  return role === 'admin' ? !ownersOnly.includes(scope) : held[role].includes(scope);
}
