// Generated from the OpenAPI document: every operation with an id in its path, called with another workspace's key, answers as if
// the resource did not exist, and changes nothing. A new route is covered by being in the document.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { populate } from './support/contract.ts';

const document: Json = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));

interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly prefix: string;
  readonly body: Json;
}

const operations: Operation[] = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item)
    // What belongs to a person and to no workspace is in people.test.ts.
    .filter(([method, { security }]) => ['get', 'post', 'patch', 'delete'].includes(method) && path.includes('{') && security === undefined)
    .map(([method, operation]) => {
      const parameter = [...(item.parameters ?? []), ...(operation.parameters ?? [])].find((candidate: Json) => candidate.in === 'path');
      const content = operation.requestBody?.content['application/json'];
      const example = content?.example ?? Object.values<Json>(content?.examples ?? {})[0]?.value;
      return { method: method.toUpperCase() as Operation['method'], path, prefix: parameter.schema.pattern.slice(1, 4), body: example };
    }),
);

let app: TestApp;
let other: { id: string; key: string };
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await openTestApp();
  other = await app.addWorkspace();
  Object.assign(ids, await populate(app));
});
afterAll(() => app.stop());

/** Everything a workspace's key can read, to see that nothing changed. */
async function snapshot(): Promise<string> {
  const lists = Object.entries<Json>(document.paths).filter(
    // Lists of the workspace; that of requests grows with each request.
    ([path, item]) => /^list(?!RequestLog)/.test(item.get?.operationId ?? '') && item.get.security === undefined && !path.includes('{'),
  );
  const texts = await Promise.all(lists.map(async ([path]) => (await app.call('GET', `${path}?limit=100`)).text));
  return texts.join('\n').replaceAll(/"last_used_at":("[^"]*"|null)/g, '');
}

test('the document has operations on every kind of resource, so that what follows covers them', () => {
  expect(new Set(operations.map((operation) => operation.prefix))).toEqual(new Set(Object.keys(ids)));
});

describe('with the key of another workspace', () => {
  test.each(operations)('$method $path answers 404 to the letter as for an id that never was, and changes nothing (I-11)', async ({
    method,
    path,
    prefix,
    body,
  }) => {
    const before = await snapshot();
    const address = (id: string): string => path.replace(/\{[^}]+\}/, id);
    const absent = `${prefix}_00000000000000000000000000`;
    const theirs = await app.call(method, address(ids[prefix] as string), { key: other.key, body });
    const nobodys = await app.call(method, address(absent), { key: other.key, body });
    expect(theirs.status).toBe(404);
    const comparable = (text: string): string => text.replace(/"request_id":"[^"]*"/, '');
    expect(comparable(theirs.text)).toBe(comparable(nobodys.text));
    expect(await snapshot()).toBe(before);
  });

  test.each(operations.filter((operation) => operation.method === 'GET'))('$method $path answers its owner', async ({
    method,
    path,
    prefix,
  }) => {
    expect((await app.call(method, path.replace(/\{[^}]+\}/, ids[prefix] as string))).status).toBe(200);
  });

  test('an id of another workspace in a query finds nothing (I-11)', async () => {
    for (const path of [
      `/v1/payments?project_id=${ids.prj}`,
      `/v1/payments?milestone_id=${ids.mil}`,
      `/v1/invoices?project_id=${ids.prj}`,
    ]) {
      expect((await app.ok('GET', path, { key: other.key })).data).toEqual([]);
    }
  });
});
