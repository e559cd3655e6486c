// Every presenter against its schema: what is shown is exactly what is documented, no field more and none less.
// Needs no database.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { makeBooks } from '../../test/support/book-fixtures.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { unharmed } from '../domain/endpoint-flow.ts';
import { defaultEventTypes } from '../domain/event.ts';
import { decodeId } from '../domain/ids.ts';
import type { Invoice } from '../domain/invoice.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { apiKeyResource, apiKeyWithSecretResource, presentApiKey, presentApiKeyWithSecret } from './api-keys.ts';
import { deliveryAttemptResource, deliveryResource, presentDelivery, presentDeliveryAttempt } from './deliveries.ts';
import { eventResource, presentEvent } from './events.ts';
import { invoiceResource, presentInvoice, presentInvoiceDocument } from './invoices.ts';
import { milestoneResource, presentMilestone } from './milestones.ts';
import { paymentResource, presentPayment } from './payments.ts';
import { presentProject, projectResource } from './projects.ts';
import {
  presentWebhookEndpoint,
  presentWebhookEndpointWithSecret,
  webhookEndpointResource,
  webhookEndpointWithSecretResource,
} from './webhook-endpoints.ts';

const workspaceId = '01993c5a-8f00-7000-8000-0000000000aa';
const id = '01993c5a-8f00-7000-8000-0000000000bb';
const at = new Date('2026-03-02T09:30:00.120Z');
const books = makeBooks(workspaceId, 2);
const [pending, released] = [0, 1];
const at1 = <Entity>(entities: readonly Entity[], index: number): Entity => entities[index] as Entity;

const key: ApiKey = {
  id,
  workspaceId,
  name: 'k',
  hash: Buffer.alloc(32, 7),
  hint: 'tr_live_abcd',
  scopes: ['projects:read'],
  expiresAt: null,
  revokedAt: null,
  createdAt: at,
};
const endpoint: WebhookEndpoint = {
  id,
  workspaceId,
  url: 'https://example.com/hook',
  description: null,
  eventTypes: null,
  status: 'enabled',
  disabledReason: null,
  disabledCause: null,
  secrets: [{ sealed: 'SEALED', expiresAt: null }],
  signatureSchemes: ['v1', 'v1a'],
  signingKeys: [{ publicKey: 'whpk_x', sealed: 'SEALED', expiresAt: null }],
  headers: [{ name: 'Authorization', sealed: 'SEALED' }],
  maxConcurrency: 16,
  rateLimitPerSecond: null,
  ordering: 'none',
  generation: 1,
  health: unharmed,
  afterSeq: 3,
  version: 1,
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
};
const event = {
  id,
  workspaceId,
  seq: 4,
  type: 'project.created' as const,
  projectId: id,
  body: '{"event":"project.created","data":{"name":"Größe"}}',
  hash: Buffer.alloc(32),
  createdAt: at,
};
const delivery = {
  id,
  workspaceId,
  endpointId: id,
  eventId: id,
  eventType: 'payment.released' as const,
  eventSeq: 4,
  previousSeq: 3,
  status: 'pending' as const,
  attempts: 0,
  nextAttemptAt: at,
  createdAt: at,
  completedAt: null,
};
const attempt = {
  number: 1,
  startedAt: at,
  durationMs: 12,
  statusCode: null,
  errorKind: 'timeout' as const,
  error: 'no answer arrived in time',
  remoteAddress: '192.0.2.1',
  responseHeaders: null,
  responseBody: null,
  responseTruncated: false,
};

const letterhead = {
  ...{ name: 'Acme', legalName: null, addressLines: ['Street 1'], taxId: 'DE1', taxLine: null, timezone: 'UTC', invoicePrefix: 'INV-' },
  logo: { contentType: 'image/png' as const, width: 1, height: 1, data: Buffer.from('x'), hash: Buffer.alloc(32) },
};
const issued = (invoice: Invoice) => ({ ...invoice, prefix: 'INV-' });

describe('presenters', () => {
  test.each([
    ['Project', projectResource, presentProject(at1(books.projects, released))],
    ['Project, archived', projectResource, presentProject(at1(books.projects, pending))],
    ['Milestone', milestoneResource, presentMilestone(at1(books.milestones, released))],
    [
      'Milestone without a submission',
      milestoneResource,
      presentMilestone({ ...at1(books.milestones, released), submission: null, submittedAt: null, approvedAt: null }),
    ],
    ['Payment, pending', paymentResource, presentPayment(at1(books.payments, pending))],
    ['Payment, released', paymentResource, presentPayment(at1(books.payments, released))],
    ['Invoice, unpaid', invoiceResource, presentInvoice(issued(at1(books.invoices, pending)))],
    ['Invoice, paid', invoiceResource, presentInvoice(issued(at1(books.invoices, released)))],
    ['Invoice, by itself', invoiceResource, presentInvoiceDocument(issued(at1(books.invoices, released)), letterhead)],
    ['Event', eventResource, presentEvent(event)],
    ['ApiKey', apiKeyResource, presentApiKey(key, null, at)],
    ['ApiKeyWithSecret', apiKeyWithSecretResource, presentApiKeyWithSecret(key, 'tr_live_x', at)],
    ['WebhookEndpoint', webhookEndpointResource, presentWebhookEndpoint(endpoint)],
    ['WebhookEndpointWithSecret', webhookEndpointWithSecretResource, presentWebhookEndpointWithSecret(endpoint, 'whsec_x')],
    ['Delivery', deliveryResource, presentDelivery(delivery)],
    ['DeliveryAttempt', deliveryAttemptResource, presentDeliveryAttempt(attempt)],
  ] as [string, z.ZodObject, object][])('%s shows exactly the documented fields', (_name, schema, shown) => {
    expect(z.strictObject(schema.shape).parse(shown)).toEqual(shown);
    const present = Object.keys(schema.shape).filter((field) => field in shown || !schema.shape[field]?.safeParse(undefined).success);
    expect(Object.keys(shown)).toEqual(present);
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  });

  test('ids are public, amounts whole numbers, times RFC 3339 with milliseconds, numbers readable', () => {
    const payment = at1(books.payments, released);
    const shown = presentPayment(payment);
    expect(decodeId('payment', shown.id)).toBe(payment.id);
    expect(decodeId('milestone', shown.milestone_id)).toBe(payment.milestoneId);
    expect(shown.amount).toBe(1001);
    expect(shown.created_at).toBe('2026-01-01T00:00:02.000Z');
    expect(presentInvoice(issued(at1(books.invoices, 0))).number).toBe('INV-000001');
    expect(presentPayment({ ...payment, amountMinor: 999_999_999_999n }).amount).toBe(999_999_999_999);
  });

  test('no secret, hash or sealed text is ever shown', () => {
    const text = JSON.stringify([presentApiKey(key, at, at), presentWebhookEndpoint(endpoint)]);
    expect(text).not.toMatch(/SEALED|hash|secret|Buffer/);
  });

  test('allowed transitions are those of the status', () => {
    expect(presentMilestone({ ...at1(books.milestones, 0), status: 'submitted' }).allowed_transitions).toEqual([
      'approved',
      'changes_requested',
      'in_progress',
    ]);
    expect(presentMilestone({ ...at1(books.milestones, 0), status: 'approved' }).allowed_transitions).toEqual([]);
    expect(presentPayment(at1(books.payments, pending)).allowed_transitions).toEqual(['released']);
    expect(presentProject(at1(books.projects, released)).allowed_transitions).toEqual(['archived']);
  });

  test.each([
    ['active', {}],
    ['active', { expiresAt: new Date(at.getTime() + 1) }],
    ['expired', { expiresAt: at }],
    ['revoked', { revokedAt: at }],
    ['revoked', { revokedAt: at, expiresAt: at }],
  ] as const)('a key is shown as %s at the moment asked about', (status, fields) => {
    expect(presentApiKey({ ...key, ...fields }, null, at).status).toBe(status);
  });

  test('an endpoint without event types shows the four default kinds', () => {
    expect(presentWebhookEndpoint(endpoint).event_types).toEqual(defaultEventTypes);
    expect(presentWebhookEndpoint({ ...endpoint, eventTypes: ['invoice.issued'] }).event_types).toEqual(['invoice.issued']);
  });

  test('the data of an event is what its webhook carries', () => {
    expect(presentEvent(event).data).toEqual({ name: 'Größe' });
  });
});
