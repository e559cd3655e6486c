// The document against the routes it is made from: complete, without twins, and true in its examples.
// Whether it passes the linter's recommended rules is checked with the committed openapi.json.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { webhookPayloads } from '../schemas/webhook-payloads.ts';
import { buildOpenApi } from './openapi.ts';
import { impliedErrors } from './openapi-errors.ts';
import type { People } from './people.ts';
import { problemStatus } from './problems.ts';
import type { Reads } from './reads.ts';
import { defineRoute, type Route, templateOf } from './route.ts';
import { allRoutes } from './routes/all.ts';
import { validate } from './validation.ts';
import type { Writes } from './writes.ts';

interface Operation {
  operationId: string;
  description: string;
  tags: string[];
  parameters?: { in?: string; name?: string; $ref?: string; schema?: { pattern?: string }; example?: string }[];
  responses: Record<string, { $ref?: string; headers?: Record<string, unknown> }>;
  requestBody?: { required: boolean; content: { 'application/json': { example?: unknown } } };
  'x-required-scope'?: string;
}
interface Document {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, object>;
    responses: Record<string, { content: Record<string, { examples: Record<string, { value: { code: string; status: number } }> }> }>;
  };
}

// The document is made from what routes say of themselves; none is called here.
const routes = allRoutes({} as Reads, {} as Writes, {} as People);
const document = buildOpenApi(routes, { version: '1.2.3', webhooks: webhookPayloads }) as Document;
const operationOf = (route: Route): Operation => document.paths[templateOf(route.path)]?.[route.method.toLowerCase()] as Operation;

describe('the document of the service', () => {
  test('has every route under its operationId, each only once', () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => operation.operationId));
    expect(ids.sort()).toEqual(routes.map((route) => route.operationId).sort());
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][a-zA-Z]+$/);
  });

  test('names no schema twice and leaves no reference open', () => {
    const names = Object.keys(document.components.schemas);
    expect(names).toEqual([...names].sort());
    for (const name of names) {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
      if (name.endsWith('Output')) expect(names).not.toContain(name.replace(/Output$/, ''));
    }
    const text = JSON.stringify(document);
    for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      expect(
        (document.components as unknown as Record<string, Record<string, unknown>>)[kind as string]?.[name as string],
        `${kind}/${name}`,
      ).toBeDefined();
    }
    expect(text).not.toContain('__schema');
  });

  test('names the status of every code that an operation can answer with, and an example of each code', () => {
    for (const route of routes) {
      const operation = operationOf(route);
      for (const code of [...impliedErrors(route), ...route.errors]) {
        const ref = operation.responses[problemStatus[code]]?.$ref;
        expect(ref, `${route.operationId} ${code}`).toBeDefined();
        const component = document.components.responses[(ref as string).split('/').at(-1) as string];
        const example = component?.content['application/problem+json']?.examples[code]?.value;
        expect(example).toMatchObject({ code, status: problemStatus[code] });
      }
    }
  });

  test('names the scope, the pattern of each id and an example of every body', () => {
    for (const route of routes) {
      const operation = operationOf(route);
      expect(operation['x-required-scope'] ?? null).toBe(route.scope);
      if (route.scope !== null) expect(operation.description).toContain(`\`${route.scope}\``);
      for (const parameter of (operation.parameters ?? []).filter((one) => one.in === 'path')) {
        expect(parameter.example).toMatch(new RegExp(parameter.schema?.pattern as string));
      }
      if (route.body !== undefined) expect(operation.requestBody?.content['application/json'].example, route.operationId).toBeDefined();
      if (route.success.schema !== undefined) expect(JSON.stringify(operation.responses[route.success.status])).toContain('"example"');
    }
  });

  test('shows request bodies that the routes accept and answers that are as described', () => {
    for (const route of routes) {
      if (route.body !== undefined) expect(validate(route.body, route.bodyExample, 'body'), route.operationId).toHaveProperty('value');
      if (route.success.schema !== undefined)
        expect(route.success.schema.safeParse(route.success.example).error, route.operationId).toBeUndefined();
    }
    for (const { schema, example, type } of webhookPayloads) expect(schema.safeParse(example).error, type).toBeUndefined();
  });

  test('describes every tag it uses and every webhook', () => {
    const described = document.tags.map((tag) => tag.name);
    const used = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
      Object.values(item).flatMap((operation) => operation.tags),
    );
    expect(new Set(used)).toEqual(new Set(described));
    for (const { name, description } of document.tags) expect(description).not.toBe(`${name}.`);
    expect(Object.keys(document.webhooks)).toEqual(webhookPayloads.map((webhook) => webhook.type));
  });

  test('is the same document each time', () => {
    expect(JSON.stringify(buildOpenApi(routes, { version: '1.2.3', webhooks: webhookPayloads }))).toBe(JSON.stringify(document));
  });
});

describe('a schema used both ways', () => {
  const routeWith = (schema: z.ZodType): Route =>
    defineRoute({
      method: 'POST',
      path: '/v1/things',
      operationId: 'createThing',
      tag: 'Things',
      summary: 'A thing.',
      scope: null,
      errors: [],
      body: schema as z.ZodType<object>,
      success: { status: 200, description: 'It.', schema },
      handle: async () => ({ body: null }),
    });

  test('is one component where reading and writing agree', () => {
    const inner = z.object({ a: z.string() }).meta({ id: 'Inner' });
    const built = buildOpenApi([routeWith(z.object({ inner }).meta({ id: 'Outer' }))], { version: '1' }) as Document;
    expect(Object.keys(built.components.schemas)).toEqual(expect.arrayContaining(['Inner', 'Outer']));
    expect(Object.keys(built.components.schemas).filter((name) => name.endsWith('Output'))).toEqual([]);
  });

  test('is refused where one name would mean two things', () => {
    const schema = z.object({ a: z.string().default('x') }).meta({ id: 'Ambiguous' });
    expect(() => buildOpenApi([routeWith(schema)], { version: '1' })).toThrow(/"Ambiguous"/);
  });
});
