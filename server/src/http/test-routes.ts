// Made-up routes for the tests of mounting: a read, a list, a creation, a change, a move without a body and a deletion.
// For tests only; nothing of it runs in the service.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { defineRoute, type Route, type RouteRequest } from './route.ts';

export const UUID = '01993c5a-8f00-7000-8000-0000000000aa';
export const PROJECT = encodeId('project', UUID);

const thing = z.object({ id: z.string(), amount: z.int(), note: z.string().nullable() });
const thingBody = z.strictObject({
  name: z.string().min(1).max(5),
  amount: z.int().max(100).optional(),
  milestones: z.array(z.strictObject({ title: z.string(), amount: z.int().min(1) })).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

type Seen = RouteRequest<unknown, unknown>;

/** The routes, and what their handlers saw. */
export function sampleRoutes(
  answer: (request: Seen) => ReturnType<Route['handle']> = async () => ({ body: { id: 'x', amount: 1, note: null } }),
) {
  const seen: Seen[] = [];
  const handle = (request: Seen) => {
    seen.push(request);
    return answer(request);
  };
  const common = { tag: 'Things', summary: 'A thing.', errors: [] };
  const routes = [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/v1/things/:id',
      operationId: 'getThing',
      scope: 'projects:read',
      ids: { id: 'project' },
      versioned: true,
      success: { status: 200, description: 'The thing.', schema: thing },
      handle,
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/v1/things',
      operationId: 'listThings',
      scope: 'projects:read',
      query: z.strictObject({ limit: z.string().regex(/^\d+$/, 'Must be a number.').optional(), 'metadata[a]': z.string().optional() }),
      success: { status: 200, description: 'Things.', schema: thing },
      handle,
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/v1/things',
      operationId: 'createThing',
      scope: 'projects:write',
      idempotent: true,
      body: thingBody,
      success: { status: 201, description: 'The thing.', schema: thing },
      handle,
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/v1/things/:id',
      operationId: 'updateThing',
      scope: null,
      ids: { id: 'project' },
      versioned: true,
      idempotent: true,
      body: thingBody.partial(),
      success: { status: 200, description: 'The thing.', schema: thing },
      handle,
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/v1/things/:id/release',
      operationId: 'releaseThing',
      scope: null,
      ids: { id: 'project' },
      idempotent: true,
      success: { status: 200, description: 'The thing.', schema: thing },
      handle,
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/v1/things/:id',
      operationId: 'deleteThing',
      scope: null,
      ids: { id: 'project' },
      success: { status: 204, description: 'Gone.' },
      handle: async (request) => {
        seen.push(request);
        return { body: null };
      },
    }),
  ];
  return { routes, seen };
}

/** Headers and payload of a request with a JSON body. */
export const json = (headers: Record<string, string>, value: unknown) => ({
  headers: { 'content-type': 'application/json', ...headers },
  payload: typeof value === 'string' ? value : JSON.stringify(value),
});
