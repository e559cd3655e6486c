// The roles of people: each a set of the scopes that keys have. Routes, the lane, the document and the tests all read it from here.
// Pure; says nothing of who holds a role.

import { allScopes, covers, type Scope } from './scopes.ts';

const readingScopes = [
  'projects:read',
  'milestones:read',
  'payments:read',
  'invoices:read',
  'events:read',
  'webhooks:read',
  'workspace:read',
  'members:read',
] as const satisfies readonly Scope[];

/** What each role is for, most powerful first. */
export const roles = {
  owner: 'Everything, ownership and closing the workspace included.',
  admin: 'Everything but ownership and closing the workspace.',
  developer: 'API keys, webhooks, the request log; creates, edits and submits projects and milestones; approves and releases nothing.',
  finance: 'Reads everything, approves milestones and releases payments, and keeps the billing profile of the workspace.',
  viewer: 'Reads, and changes nothing; sees neither keys nor logs.',
} as const;

export type Role = keyof typeof roles;

export const allRoles = Object.keys(roles) as [Role, ...Role[]];

/** The roles that an invitation or a change of role can give; owners are made by owners, in a step of its own. */
export const givenRoles = ['admin', 'developer', 'finance', 'viewer'] as const satisfies readonly Role[];
export type GivenRole = (typeof givenRoles)[number];

export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes.filter((scope) => scope !== 'workspace:own'),
  developer: [
    ...readingScopes,
    'projects:write',
    'milestones:write',
    'milestones:submit',
    'webhooks:write',
    'api_keys:read',
    'api_keys:write',
    'audit:read',
    'request_log:read',
  ],
  finance: [
    ...readingScopes,
    'api_keys:read',
    'milestones:approve',
    'payments:release',
    'workspace:write',
    'audit:read',
    'request_log:read',
  ],
  viewer: readingScopes,
};

/** Whether a person in one role may do all that another role may. */
export const roleCovers = (held: Role, wanted: Role): boolean => covers(roleScopes[held], roleScopes[wanted]);
