// What counts as a breaking change of the API document, case by case, and what does not.
// Compares small documents in memory; reads no files.

import { describe, expect, test } from 'vitest';
import { findBreakingChanges } from './openapi-changes.ts';
import type { Json } from './schema-changes.ts';

function makeDocument(): Record<string, never> {
  return structuredClone({
    openapi: '3.1.0',
    paths: {
      '/v1/things/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        patch: {
          operationId: 'updateThing',
          parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } }],
          requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingPatch' } } } },
          responses: {
            200: {
              description: 'ok',
              headers: { ETag: { schema: { type: 'string' } } },
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
            404: { description: 'none', content: { 'application/problem+json': { schema: { type: 'object' } } } },
          },
        },
      },
    },
    webhooks: {
      'thing.changed': {
        post: {
          operationId: 'thingChanged',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          responses: { 200: { description: 'acknowledged' } },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          type: 'object',
          required: ['id', 'note', 'status'],
          properties: {
            id: { type: 'string' },
            note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
            status: { type: 'string', enum: ['open', 'done'] },
            parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
          },
        },
        ThingPatch: {
          type: 'object',
          additionalProperties: false,
          properties: { status: { type: 'string', enum: ['open', 'done'] }, size: { type: ['integer', 'null'], maximum: 10 } },
        },
      },
    },
  }) as unknown as Record<string, never>;
}

type Node = Record<string, never> & { [key: string]: Node } & unknown[];
const at = (document: unknown, ...path: string[]): Node =>
  path.reduce((node, key) => (node as Record<string, unknown>)[key], document) as Node;
const set = (document: unknown, path: string[], value: unknown): void => {
  (at(document, ...path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string] = value;
};
const drop = (document: unknown, ...path: string[]): void => {
  delete (at(document, ...path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string];
};

function changesAfter(edit: (document: Json) => void): string[] {
  const after = makeDocument();
  edit(after);
  return findBreakingChanges(makeDocument(), after);
}

const operation = ['paths', '/v1/things/{id}', 'patch'];
const thing = ['components', 'schemas', 'Thing'];
const patch = ['components', 'schemas', 'ThingPatch'];

describe('breaking', () => {
  const cases: [string, (document: Json) => void, RegExp][] = [
    ['a removed path', (d) => drop(d, 'paths', '/v1/things/{id}'), /path removed/],
    ['a removed operation', (d) => drop(d, ...operation), /PATCH \/v1\/things\/\{id\}: operation removed/],
    ['a renamed operationId', (d) => set(d, [...operation, 'operationId'], 'editThing'), /operationId changed/],
    ['a removed webhook', (d) => drop(d, 'webhooks', 'thing.changed'), /webhook removed/],
    ['a removed query parameter', (d) => set(d, [...operation, 'parameters'], []), /query parameter limit removed/],
    ['a parameter that is now required', (d) => set(d, [...operation, 'parameters', '0', 'required'], true), /limit is now required/],
    ['a narrower parameter', (d) => set(d, [...operation, 'parameters', '0', 'schema', 'maximum'], 50), /maximum lowered to 50/],
    ['a removed response', (d) => drop(d, ...operation, 'responses', '404'), /response 404 removed/],
    ['a removed response header', (d) => drop(d, ...operation, 'responses', '200', 'headers', 'ETag'), /header ETag removed/],
    ['a removed response property', (d) => drop(d, ...thing, 'properties', 'note'), /\.note: property removed/],
    ['a response property that may be absent', (d) => set(d, [...thing, 'required'], ['id', 'status']), /note: no longer always present/],
    ['a response property of another type', (d) => set(d, [...thing, 'properties', 'id'], { type: 'integer' }), /id: type changed/],
    [
      'a response property that may be null',
      (d) => set(d, [...thing, 'properties', 'id'], { type: ['string', 'null'] }),
      /may now be null/,
    ],
    ['a new required request field', (d) => set(d, [...patch, 'required'], ['status']), /status: now required/],
    ['a removed request field', (d) => drop(d, ...patch, 'properties', 'size'), /size: property removed/],
    ['a removed request value', (d) => set(d, [...patch, 'properties', 'status', 'enum'], ['open']), /"done" is no longer accepted/],
    ['a request field that refuses null', (d) => set(d, [...patch, 'properties', 'size', 'type'], 'integer'), /null is no longer accepted/],
    ['a lower bound of a request field', (d) => set(d, [...patch, 'properties', 'size', 'maximum'], 9), /maximum lowered to 9/],
    ['a new pattern of a request field', (d) => set(d, [...patch, 'properties', 'status', 'pattern'], '^o'), /pattern changed/],
  ];
  test.each(cases)('%s', (_name, edit, expected) => {
    const changes = changesAfter(edit);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.join('\n')).toMatch(expected);
  });
});

describe('compatible', () => {
  const cases: [string, (document: Json) => void][] = [
    ['no change at all', () => undefined],
    ['a new path', (d) => set(d, ['paths', '/v1/others'], { get: { operationId: 'listOthers', responses: {} } })],
    ['a new optional request field', (d) => set(d, [...patch, 'properties', 'color'], { type: 'string' })],
    ['a new request value', (d) => set(d, [...patch, 'properties', 'status', 'enum'], ['open', 'done', 'paused'])],
    ['a wider request type', (d) => set(d, [...patch, 'properties', 'size', 'type'], ['number', 'null'])],
    ['a new response field', (d) => set(d, [...thing, 'properties', 'color'], { type: 'string' })],
    ['a new value in an answer', (d) => set(d, [...thing, 'properties', 'status', 'enum'], ['open', 'done', 'paused'])],
    ['null written another way', (d) => set(d, [...thing, 'properties', 'note'], { type: ['string', 'null'] })],
    ['a new error', (d) => set(d, [...operation, 'responses', '409'], { description: 'conflict' })],
  ];
  test.each(cases)('%s', (_name, edit) => {
    expect(changesAfter(edit)).toEqual([]);
  });
});
