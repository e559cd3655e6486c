// Every route of the service in one list: what the server mounts, the document describes and the generated tests walk.

import type { Reads } from '../reads.ts';
import type { Route } from '../route.ts';
import type { Writes } from '../writes.ts';
import { apiKeyWriteRoutes } from './api-key-writes.ts';
import { apiKeyReadRoutes } from './api-keys.ts';
import { deliveryListRoutes } from './deliveries.ts';
import { eventStreamRoutes } from './event-stream.ts';
import { eventReadRoutes } from './events.ts';
import { invoiceReadRoutes } from './invoices.ts';
import { milestoneWriteRoutes } from './milestone-writes.ts';
import { milestoneReadRoutes } from './milestones.ts';
import { paymentWriteRoutes } from './payment-writes.ts';
import { paymentReadRoutes } from './payments.ts';
import { projectWriteRoutes } from './project-writes.ts';
import { projectReadRoutes } from './projects.ts';
import { webhookEndpointWriteRoutes } from './webhook-endpoint-writes.ts';
import { webhookEndpointReadRoutes } from './webhook-endpoints.ts';
import { webhookRepairRoutes } from './webhook-repairs.ts';
import { webhookTestRoutes } from './webhook-tests.ts';

export function allRoutes(reads: Reads, writes: Writes): Route[] {
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
    ...apiKeyReadRoutes(reads),
    ...apiKeyWriteRoutes(writes),
  ];
}
