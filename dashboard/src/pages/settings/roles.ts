// The roles in words: what each may do, for whoever gives one.
// Words only; what they may, the server says.

import type { GivenRole, Role } from '../../client/sdk.ts';

export interface RoleWords {
  readonly role: Role;
  readonly label: string;
  readonly may: string;
  /** What people expect of it and it does not do. */
  readonly mayNot: string | null;
}

export const roleWords: readonly RoleWords[] = [
  { role: 'owner', label: 'Owner', may: 'Everything: also makes and removes owners, and closes the workspace.', mayNot: null },
  { role: 'admin', label: 'Admin', may: 'Everything else, people and settings included.', mayNot: 'Ownership, closing the workspace.' },
  {
    role: 'developer',
    label: 'Developer',
    may: 'API keys, webhooks and the logs; creates, edits and submits projects and milestones; reads everything.',
    mayNot: 'Approving, releasing, people, settings.',
  },
  {
    role: 'finance',
    label: 'Finance',
    may: 'Approves milestones, releases payments, keeps the workspace’s billing profile; reads everything.',
    mayNot: 'Creating projects, keys, webhooks, people.',
  },
  {
    role: 'viewer',
    label: 'Viewer',
    may: 'Reads projects, payments, invoices, events, webhook endpoints and who the members are.',
    mayNot: 'Any change; keys and logs are not shown.',
  },
];

export const givenRoles: readonly GivenRole[] = ['admin', 'developer', 'finance', 'viewer'];

export const labelOfRole = (role: Role): string => roleWords.find((one) => one.role === role)?.label ?? role;
export const mayOfRole = (role: Role): string => roleWords.find((one) => one.role === role)?.may ?? '';
