// Every resource, list and webhook payload as a component of the document: its name, its example, its form.
// Needs no database and no HTTP.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  apiKeyCreate,
  apiKeyExample,
  apiKeyResource,
  apiKeyRotate,
  apiKeyWithSecretExample,
  apiKeyWithSecretResource,
} from './api-keys.ts';
import { deliveryAttemptExample, deliveryAttemptResource, deliveryExample, deliveryResource } from './deliveries.ts';
import { eventExample, eventList, eventResource } from './events.ts';
import { invoiceExample, invoiceResource } from './invoices.ts';
import { milestoneCreate, milestoneExample, milestoneResource, milestoneUpdate } from './milestones.ts';
import { paymentExample, paymentRelease, paymentResource } from './payments.ts';
import { projectCreate, projectExample, projectList, projectListQuery, projectResource, projectUpdate } from './projects.ts';
import {
  webhookEndpointCreate,
  webhookEndpointExample,
  webhookEndpointResource,
  webhookEndpointWithSecretExample,
  webhookEndpointWithSecretResource,
} from './webhook-endpoints.ts';
import { webhookPayloads } from './webhook-payloads.ts';

describe('resources', () => {
  test.each([
    ['Project', projectResource, projectExample],
    ['Milestone', milestoneResource, milestoneExample],
    ['Payment', paymentResource, paymentExample],
    ['Invoice', invoiceResource, invoiceExample],
    ['Event', eventResource, eventExample],
    ['ApiKey', apiKeyResource, apiKeyExample],
    ['ApiKeyWithSecret', apiKeyWithSecretResource, apiKeyWithSecretExample],
    ['WebhookEndpoint', webhookEndpointResource, webhookEndpointExample],
    ['WebhookEndpointWithSecret', webhookEndpointWithSecretResource, webhookEndpointWithSecretExample],
    ['Delivery', deliveryResource, deliveryExample],
    ['DeliveryAttempt', deliveryAttemptResource, deliveryAttemptExample],
  ] as [string, z.ZodType, unknown][])('%s is documented under its own name with an example that fits', (name, schema, example) => {
    expect(schema.parse(example)).toEqual(example);
    expect(z.toJSONSchema(schema)).toHaveProperty(`$defs.${name}.example`, example);
  });

  test('lists are components of their own', () => {
    expect(z.toJSONSchema(projectList)).toHaveProperty('$defs.ProjectList.properties.data.items.$ref', '#/$defs/Project');
    expect(z.toJSONSchema(eventList)).toHaveProperty('$defs.EventList.properties.data.items.$ref', '#/$defs/Event');
  });

  test('every request schema can be written as JSON Schema of its input', () => {
    const schemas = [
      projectCreate,
      projectUpdate,
      milestoneCreate,
      milestoneUpdate,
      apiKeyCreate,
      apiKeyRotate,
      webhookEndpointCreate,
      paymentRelease,
    ];
    for (const schema of schemas) expect(z.toJSONSchema(schema, { io: 'input' })).toHaveProperty('$ref');
    expect(z.toJSONSchema(projectListQuery, { io: 'input' })).toHaveProperty('properties.metadata.type', 'object');
    expect(z.toJSONSchema(milestoneCreate, { io: 'input' })).toHaveProperty('$defs.MilestoneCreate.properties.amount.type', 'integer');
  });
});

describe('webhook payloads', () => {
  test.each(webhookPayloads.map((payload) => [payload.type, payload] as const))('%s is exactly event and data', (type, {
    schema,
    example,
  }) => {
    expect(schema.parse(example)).toEqual(example);
    expect(Object.keys(example)).toEqual(['event', 'data']);
    expect(example.event).toBe(type);
    expect(schema.safeParse({ ...example, id: 'x' }).success).toBe(false);
    expect(schema.safeParse({ ...example, data: { ...example.data, extra: 1 } }).success).toBe(false);
  });

  test('payment.released has exactly the four given fields', () => {
    const payload = webhookPayloads.find(({ type }) => type === 'payment.released');
    expect(Object.keys(payload?.example.data ?? {})).toEqual(['projectId', 'milestoneId', 'amount', 'currency']);
  });
});
