// Every page of the dashboard by its address, for what is done on all of them: screenshots, axe.
// A new page goes in here.

import type { Story } from './story.ts';

export interface PageAddress {
  readonly name: string;
  readonly path: string;
  /** Seen by people who are not signed in. */
  readonly outside?: boolean;
}

export function everyPage({ projectId, endpointId, invoiceId, invitationPath }: Story): readonly PageAddress[] {
  return [
    { name: 'sign-in', path: '/sign-in', outside: true },
    { name: 'sign-up', path: '/sign-up', outside: true },
    { name: 'invitation', path: invitationPath, outside: true },
    { name: 'home', path: '/' },
    { name: 'projects', path: '/projects' },
    { name: 'project', path: `/projects/${projectId}` },
    { name: 'project-board', path: `/projects/${projectId}?view=board` },
    { name: 'project-events', path: `/projects/${projectId}?tab=events` },
    { name: 'payments', path: '/payments' },
    { name: 'invoices', path: '/invoices' },
    { name: 'invoice', path: `/invoices/${invoiceId}` },
    { name: 'api-keys', path: '/developers/api-keys' },
    { name: 'webhooks', path: '/developers/webhooks' },
    { name: 'webhook-endpoint', path: `/developers/webhooks/${endpointId}` },
    { name: 'events', path: '/developers/events' },
    { name: 'requests', path: '/developers/requests' },
    { name: 'usage', path: '/developers/usage' },
    { name: 'workspace', path: '/settings/workspace' },
    { name: 'people', path: '/settings/people' },
    { name: 'account', path: '/settings/account' },
    { name: 'audit-log', path: '/settings/audit-log' },
  ];
}
