// Every route of the service in one list: what the server mounts, the document describes and the generated tests walk.

import type { People } from '../people.ts';
import type { Reads } from '../reads.ts';
import type { Route } from '../route.ts';
import type { Writes } from '../writes.ts';
import { accountRoutes } from './account.ts';
import { accountSecurityRoutes } from './account-security.ts';
import { apiKeyWriteRoutes } from './api-key-writes.ts';
import { apiKeyReadRoutes } from './api-keys.ts';
import { auditEntryRoutes } from './audit-entries.ts';
import { deliveryListRoutes } from './deliveries.ts';
import { eventStreamRoutes } from './event-stream.ts';
import { eventReadRoutes } from './events.ts';
import { exportRoutes } from './exports.ts';
import { invitationRoutes } from './invitations.ts';
import { invoicePdfRoutes } from './invoice-pdf.ts';
import { invoiceReadRoutes } from './invoices.ts';
import { memberRoutes, workspaceRoutes } from './members.ts';
import { milestoneWriteRoutes } from './milestone-writes.ts';
import { milestoneReadRoutes } from './milestones.ts';
import { overviewRoutes } from './overview.ts';
import { paymentWriteRoutes } from './payment-writes.ts';
import { paymentReadRoutes } from './payments.ts';
import { projectWriteRoutes } from './project-writes.ts';
import { projectReadRoutes } from './projects.ts';
import { requestLogRoutes } from './request-log.ts';
import { totalsRoutes } from './totals.ts';
import { webhookEndpointWriteRoutes } from './webhook-endpoint-writes.ts';
import { webhookEndpointReadRoutes } from './webhook-endpoints.ts';
import { webhookRepairRoutes } from './webhook-repairs.ts';
import { webhookTestRoutes } from './webhook-tests.ts';
import { settingsRoutes } from './workspace.ts';

export function allRoutes(reads: Reads, writes: Writes, people: People): Route[] {
  return [
    ...projectReadRoutes(reads),
    ...projectWriteRoutes(writes),
    ...milestoneReadRoutes(reads),
    ...milestoneWriteRoutes(writes),
    ...paymentReadRoutes(reads),
    ...paymentWriteRoutes(writes),
    ...invoiceReadRoutes(reads),
    ...eventReadRoutes(reads),
    ...eventStreamRoutes(reads),
    ...webhookEndpointReadRoutes(reads),
    ...webhookEndpointWriteRoutes(writes),
    ...webhookTestRoutes(reads, writes),
    ...deliveryListRoutes(reads),
    ...webhookRepairRoutes(reads, writes),
    ...settingsRoutes(reads, writes),
    ...overviewRoutes(reads),
    ...totalsRoutes(reads),
    ...exportRoutes(reads),
    ...invoicePdfRoutes(reads),
    ...requestLogRoutes(reads),
    ...apiKeyReadRoutes(reads),
    ...apiKeyWriteRoutes(writes),
    ...accountRoutes(people),
    ...accountSecurityRoutes(people),
    ...workspaceRoutes(people, writes),
    ...memberRoutes(people, writes),
    ...invitationRoutes(people, writes),
    ...auditEntryRoutes(people),
  ];
}
