// What a key may do. The list is data: keys, routes, the reference page and the tests all read it from here.
// Pure; says nothing of how a key is presented.

export const scopes = {
  'projects:read': 'Read projects.',
  'projects:write': 'Create, edit and archive projects.',
  'milestones:read': 'Read milestones.',
  'milestones:write': 'Create, edit and cancel milestones.',
  'milestones:submit': 'Start, submit and withdraw milestones.',
  'milestones:approve': 'Approve milestones or request changes.',
  'payments:read': 'Read payments.',
  'payments:release': 'Release pending payments.',
  'invoices:read': 'Read invoices.',
  'events:read': 'Read the event log.',
  'webhooks:read': 'Read webhook endpoints, deliveries and attempts.',
  'webhooks:write': 'Create, edit and delete webhook endpoints and rotate their secrets.',
  'api_keys:read': 'List API keys (never their secrets).',
  'api_keys:write': 'Create, rotate and revoke API keys.',
  'workspace:read': 'Read the workspace and its settings.',
  'workspace:write': 'Change the settings of the workspace.',
  'workspace:own': 'Make owners, demote and remove them, and close the workspace.',
  'members:read': 'List members and invitations.',
  'members:write': 'Invite people, change their roles and remove them.',
  'audit:read': 'Read the audit log.',
  'request_log:read': 'Read the log of requests and the use of the rate limit.',
} as const;

export type Scope = keyof typeof scopes;

export const allScopes = Object.keys(scopes) as [Scope, ...Scope[]];

/** Whether every scope of `wanted` is among `held`. */
export function covers(held: readonly Scope[], wanted: readonly Scope[]): boolean {
  return wanted.every((scope) => held.includes(scope));
}
