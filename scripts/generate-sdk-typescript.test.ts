// What is added to the document reaches the TypeScript client, and the samples of all clients, without a change by hand.
// Works on copies of the document; writes nothing.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { codeSamples } from './code-samples/samples.ts';
import { typescriptClient } from './generate-sdk-typescript.ts';
import { type Document, operationsOf } from './sdk-operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: the copy is changed freely.
let document: any;
beforeEach(() => {
  document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));
});

const file = (name: string): string => typescriptClient(document as Document)[`sdks/typescript/src/generated/${name}.ts`] as string;

test('the committed files are those of the committed document', () => {
  for (const [path, text] of Object.entries(typescriptClient(document as Document))) {
    expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'), path).toBe(text);
  }
  const committed = readFileSync(new URL('../server/src/http/code-samples.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(codeSamples(document as Document));
});

describe('what is added to the document is in the client', () => {
  test('a field of a record and of a body, with what is said of it', () => {
    const field = { anyOf: [{ type: 'string', format: 'date-time', description: 'When it is due.' }, { type: 'null' }] };
    document.components.schemas.Project.properties.due_at = field;
    document.components.schemas.Project.required.push('due_at');
    document.components.schemas.ProjectCreate.properties.due_at = field;
    expect(file('types')).toContain('  /** When it is due. */\n  due_at: string | null;\n');
    expect(file('types')).toContain('  /** When it is due. */\n  readonly due_at?: string | Date | null | undefined;\n');
  });

  test('a filter, with its short name', () => {
    const parameter = { in: 'query', name: 'project_id', schema: { type: 'string' }, description: 'Only of this project.' };
    document.paths['/v1/webhook_endpoints'].get.parameters.push(parameter);
    expect(file('types')).toMatch(
      /ListWebhookEndpointsQuery \{[^}]*readonly project_id\?: string \| undefined;[^}]*readonly project\?: string/,
    );
    expect(file('resources')).toContain("this.requester.list('/v1/webhook_endpoints', query, options, ['project'])");
  });

  test('a query of a read that answers no list is sent, with its short names', () => {
    expect(file('resources')).toContain(
      "this.requester.read('/v1/payments/totals', query, options, 'payment_totals', ['project', 'client', 'milestone'])",
    );
    // Whatever takes a query hands it on.
    const methods = file('resources').split(/\n {2}\/\*\*/);
    for (const method of methods) if (/\(.*query: /.test(method)) expect(method).toMatch(/requester\.(list|stream|read)\([^\n]*query/);
  });

  test('a value of an enum, a code of an error and a kind of webhook', () => {
    document.components.schemas.MilestoneStatus.enum.push('paused');
    document.components.schemas.ErrorCode.enum.push('too_early');
    const kind = structuredClone(document.webhooks['payment.released']);
    kind.post.requestBody.content['application/json'].schema.$ref = '#/components/schemas/PaymentHeldWebhook';
    document.webhooks['payment.held'] = kind;
    document.components.schemas.PaymentHeldWebhook = {
      type: 'object',
      properties: { event: { type: 'string', const: 'payment.held' }, data: { $ref: '#/components/schemas/PaymentReleasedData' } },
      required: ['event', 'data'],
    };
    expect(file('types')).toMatch(/type MilestoneStatus = .*'paused'/);
    expect(file('types')).toMatch(/type WebhookBody =[^;]*\| PaymentHeldWebhook\n/);
    expect(file('errors')).toContain('export class TooEarlyError extends ApiError {}');
    expect(file('errors')).toContain("  too_early: { name: 'TooEarlyError', type: TooEarlyError },");
  });

  test('operations of a new resource, with samples in every language', () => {
    const refundOf = (operation: object, operationId: string): object => ({ ...operation, operationId });
    document.paths['/v1/refunds'] = { get: refundOf(document.paths['/v1/invoices'].get, 'listRefunds') };
    document.paths['/v1/refunds/{id}'] = { get: refundOf(document.paths['/v1/invoices/{id}'].get, 'getRefund') };
    const action = refundOf(document.paths['/v1/payments/{id}/release'].post, 'settleRefund');
    document.paths['/v1/refunds/{id}/settle_now'] = { post: action };
    expect(file('resources')).toContain('export class Refunds extends Resource {');
    expect(file('resources')).toContain('    this.refunds = new Refunds(requester);');
    const names = operationsOf(document as Document).filter(({ resource }) => resource === 'refunds');
    expect(names.map(({ name }) => name)).toEqual(['list', 'retrieve', 'settle_now']);
    const samples = codeSamples(document as Document).settleRefund?.map(({ source }) => source) ?? [];
    expect(samples[0]).toContain('tranche.refunds.settleNow(');
    expect(samples[1]).toContain('client.refunds.settle_now(');
    expect(samples[2]).toContain('client.Refunds.SettleNow(ctx, ');
  });
});

test('what answers with a stream is gone through, sends what the list beside it holds, and is left by its sample', () => {
  const stream = { '200': { description: 'A stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } } };
  const parameters = [
    { in: 'query', name: 'after', schema: { type: 'integer' } },
    { in: 'query', name: 'kinds', schema: { type: 'string' } },
  ];
  document.paths['/v1/invoices/feed'] = { get: { operationId: 'feedInvoices', summary: 'Follow', parameters, responses: stream } };
  expect(operationsOf(document as Document).map(({ operationId }) => operationId)).not.toContain('feedInvoices');
  expect(file('resources')).toContain('feed(query: FeedInvoicesQuery = {}, options: StreamOptions = {}): EventStream<Invoice> {');
  expect(file('types')).toContain('  readonly kinds?: string | readonly string[] | undefined;\n');
  const samples = codeSamples(document as Document).feedInvoices?.map(({ source }) => source) ?? [];
  expect(samples[0]).toContain('for await (const invoice of tranche.invoices.feed({ after: 0 })) {');
  expect(samples[1]).toContain('for invoice in client.invoices.feed(after=0):');
  expect(samples[2]).toContain('client.Invoices.Feed(ctx, &tranche.InvoiceFeedParams{After: tranche.Int64(0)})');
  for (const sample of samples) expect(sample).toMatch(/^\s+break\b/m);
});

test('a stream without a list beside it is refused: nothing would say what it sends', () => {
  const stream = { '200': { description: 'A stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } } };
  document.paths['/v1/ticks/stream'] = { get: { operationId: 'streamTicks', summary: 'Follow', responses: stream } };
  expect(() => file('resources')).toThrow('/v1/ticks/stream');
});

test('a fixed value may be a number or a truth value', () => {
  document.components.schemas.Project.properties.fixed = { const: true };
  document.components.schemas.Project.properties.level = { enum: [1, 2, null] };
  expect(file('types')).toContain('fixed?: true | undefined;');
  expect(file('types')).toContain('level?: 1 | 2 | null | undefined;');
});

test('every operation has a name of its own', () => {
  const names = operationsOf(document as Document).map(({ resource, name }) => `${resource}.${name}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining(['projects.list_milestones', 'projects.create_milestone', 'payments.release', 'api_keys.revoke']),
  );
});
