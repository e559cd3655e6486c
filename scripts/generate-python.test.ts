// The generator of the Python client: what is added to the document reaches the client by itself, in a form that Python accepts.
// Looks at texts only; whether the client works is tested in sdks/python.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pythonClient } from './generate-python.ts';
import type { Document } from './sdk-operations.ts';

const text = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');

/** What JSON holds, to change a copy of the document freely. */
type Changeable = { [name: string]: Changeable };

function generated(change: (document: Changeable) => void = () => {}): (file: string) => string {
  const document = JSON.parse(text) as Changeable;
  change(document);
  const files = pythonClient(document as unknown as Document);
  return (file) => files[`sdks/python/src/tranche/_generated/${file}`] ?? '';
}

const schema = (document: Changeable, name: string): Changeable => document.components?.schemas?.[name] as Changeable;

describe('the generator of the Python client', () => {
  test('writes the same files for the same document', () => {
    expect(pythonClient(JSON.parse(text) as Document)).toEqual(pythonClient(JSON.parse(text) as Document));
  });

  test('writes what is committed', () => {
    for (const [path, written] of Object.entries(pythonClient(JSON.parse(text) as Document))) {
      expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'), path).toBe(written);
    }
  });

  test('a field added to a resource, a body, a query or an enum reaches models and methods of both clients', () => {
    const file = generated((document) => {
      Object.assign(schema(document, 'Project').properties as Changeable, {
        budget: { type: 'integer', description: 'What it may cost.' },
        closed_at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
        owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      });
      Object.assign(schema(document, 'MilestoneUpdate').properties as Changeable, { from: { type: ['string', 'null'] } });
      (schema(document, 'ProjectStatus').enum as unknown as string[]).push('paused');
      (document.paths?.['/v1/payments']?.get?.parameters as unknown as unknown[]).push({
        in: 'query',
        name: 'payee_id',
        schema: { type: 'string' },
      });
    });
    expect(file('models.py')).toContain('    budget: int | None = None\n    """What it may cost."""\n');
    expect(file('models.py')).toContain('    closed_at: datetime | None = None\n');
    expect(file('models.py')).toContain('    ("closed_at", parse_time),\n');
    expect(file('models.py')).toContain('class ProjectOwner(Model):');
    expect(file('models.py')).toContain('    _object: ClassVar[str | None] = "project"\n');
    expect(file('models.py')).toContain('    ("owner", ProjectOwner._adopt),\n');
    expect(file('enums.py')).toContain('    "paused",\n');
    for (const resources of [file('resources.py'), file('async_resources.py')]) {
      expect(resources).toContain('        from_: str | NotGiven | None = NOT_GIVEN,\n');
      expect(resources).toContain('"from": from_,\n');
      expect(resources).toContain('"payee_id": either(payee_id, payee, "payee_id"),\n');
    }
  });

  test('a new operation, webhook or error code gets its method and its class', () => {
    const file = generated((document) => {
      const release = document.paths?.['/v1/payments/{id}/release'] as Changeable;
      Object.assign(document.paths as Changeable, {
        '/v1/payments/{id}/hold': { post: { ...release.post, operationId: 'holdPayment', summary: 'Hold a payment' } },
      });
      Object.assign(document.components?.schemas as Changeable, {
        PaymentHeldWebhook: {
          ...schema(document, 'PaymentReleasedWebhook'),
          properties: { event: { type: 'string', const: 'payment.held' }, data: { $ref: '#/components/schemas/PaymentReleasedData' } },
        },
      });
      const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentHeldWebhook' } } } };
      Object.assign(document.webhooks as Changeable, { 'payment.held': { post: { requestBody: body } } });
      (schema(document, 'ErrorCode').enum as unknown as string[]).push('payment_held');
    });
    expect(file('resources.py')).toContain('    def hold(\n        self,\n        payment_id: str,\n');
    expect(file('async_resources.py')).toContain('    async def hold(\n');
    expect(file('webhooks.py')).toContain('    "payment.held": PaymentHeldWebhook,\n');
    expect(file('errors.py')).toContain('class PaymentHeldError(ApiError):');
  });

  test('words of the document cannot break out of a docstring', () => {
    const file = generated((document) => {
      Object.assign(schema(document, 'Project'), { description: 'Ends """ here\\ and "there"' });
    });
    expect(file('models.py')).toContain(`    """\n    Ends ''' here\\\\ and "there"\n    """\n`);
  });
});
