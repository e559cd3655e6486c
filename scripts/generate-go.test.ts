// What the generator of the Go client promises: what is added to the document reaches the client with no hand edit.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { goClient } from './generate-go.ts';
import type { Document } from './sdk-operations.ts';

type Open = { [key: string]: Open };

const root = new URL('../', import.meta.url);
const text = readFileSync(new URL('openapi.json', root), 'utf8');

/** The client for the document after a change. */
function generated(change: (schemas: Open, document: Open) => void): Record<string, string> {
  const document = JSON.parse(text) as Open;
  change((document.components as Open).schemas as Open, document);
  return goClient(document as unknown as Document);
}

const assign = (target: Open | undefined, added: object): void => void Object.assign(target as Open, added);

test('the generated Go is committed as it is generated', () => {
  for (const [path, made] of Object.entries(generated(() => {}))) expect(readFileSync(new URL(path, root), 'utf8'), path).toBe(made);
});

test('a field that is added to a resource is in its type, and one that is added to a body is in its parameters', () => {
  const files = generated(({ Project, ProjectUpdate }) => {
    assign(Project?.properties, {
      due_at: { anyOf: [{ type: 'string', format: 'date-time', description: 'When it is due.' }, { type: 'null' }] },
    });
    (Project?.required as unknown as string[]).push('due_at');
    assign(ProjectUpdate?.properties, { due_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] } });
    assign(ProjectUpdate?.properties, { tags: { type: 'array', items: { type: 'string' } } });
  });
  expect(files['sdks/go/models.gen.go']).toContain('\t// When it is due.\n\tDueAt *time.Time `json:"due_at"`\n');
  expect(files['sdks/go/params.gen.go']).toContain('\tDueAt *Nullable[time.Time] `json:"due_at,omitempty"`\n');
  expect(files['sdks/go/params.gen.go']).toMatch(/\tTags +\*\[\]string +`json:"tags,omitempty"`\n/);
});

test('a route, a query parameter, an error, an event and a value that are added each appear under their own names', () => {
  const files = generated((schemas, { paths, webhooks }) => {
    const release = structuredClone(paths?.['/v1/payments/{id}/release']?.post) as Open;
    assign(paths, { '/v1/payments/{id}/hold_back': { post: { ...release, operationId: 'holdPayment' } } });
    const { parameters } = paths?.['/v1/invoices']?.get as Open;
    (parameters as unknown as object[]).push({ in: 'query', name: 'overdue_since', schema: { type: 'string', format: 'date-time' } });
    (schemas.ErrorCode?.enum as unknown as string[]).push('payment_held');
    (schemas.EventType?.enum as unknown as string[]).push('payment.held');
    (schemas.PaymentStatus?.enum as unknown as string[]).push('held');
    assign(schemas, { PaymentHeldWebhook: structuredClone(schemas.PaymentReleasedWebhook) });
    const held = structuredClone(webhooks?.['payment.released']) as Open;
    const content = (held.post?.requestBody as Open).content?.['application/json'] as Open;
    assign(content, { schema: { $ref: '#/components/schemas/PaymentHeldWebhook' } });
    assign(webhooks, { 'payment.held': held });
  });
  expect(files['sdks/go/operations.gen.go']).toContain(
    'func (s *PaymentService) HoldBack(ctx context.Context, id string, params *PaymentReleaseParams, options ...RequestOption) (*Payment, error) {',
  );
  expect(files['sdks/go/operations.gen.go']).toContain('\tvalues.time("overdue_since", params.OverdueSince)\n');
  expect(files['sdks/go/errors.gen.go']).toContain('type PaymentHeldError Error\n');
  expect(files['sdks/go/enums.gen.go']).toMatch(/\tPaymentStatusHeld +PaymentStatus = "held"\n/);
  expect(files['sdks/go/webhooks.gen.go']).toContain('\tcase EventTypePaymentHeld:\n\t\treturn &PaymentHeldWebhook{}\n');
});

test('the one stream of the API takes what the hand-written Stream of the client sends', () => {
  const { paths } = JSON.parse(text) as Document;
  const streams = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.responses['200']?.content?.['text/event-stream'] === undefined ? [] : [{ path, get }],
  );
  const names = streams.flatMap(({ get }) => (get.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name));
  const written = readFileSync(new URL('sdks/go/event_stream.go', root), 'utf8');
  expect(streams.map(({ path }) => path)).toEqual(['/v1/events/stream']);
  expect(names).toEqual(['after_seq', 'event_types']);
  for (const part of ['/v1/events/stream', ...names]) expect(written).toContain(`"${part}"`);
});

test('a form that the generator does not know stops it instead of losing a field', () => {
  expect(() => generated(({ Project }) => assign(Project?.properties, { odd: { type: ['string', 'integer'] } }))).toThrow(/Project_odd/);
  expect(() => generated(({ Project }) => assign(Project?.properties, { odd: { not: {} } }))).toThrow(/does not know/);
  expect(() => generated(({ Payment }) => assign(Payment?.properties, { object: { type: 'string' } }))).toThrow(/Payment .*"object"/);
});

test('Go writes initialisms in capitals, and a secret is never printed', () => {
  const files = generated(() => {});
  expect(files['sdks/go/models.gen.go']).toContain('\tProjectID string `json:"projectId"`\n');
  expect(files['sdks/go/models.gen.go']).toContain('\tURL string `json:"url"`\n');
  for (const type of ['APIKeyWithSecret', 'WebhookEndpointWithSecret']) {
    expect(files['sdks/go/models.gen.go']).toContain(`func (s ${type}) GoString() string {`);
  }
});
