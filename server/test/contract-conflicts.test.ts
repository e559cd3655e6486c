// What is refused because of the state a resource is in (409), and conditional requests: ETag, If-Match, If-None-Match.
// A refusal changes nothing; where If-Match decides, two editors cannot overwrite each other.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MilestoneStatus, milestoneMoves, milestoneStatuses } from '../src/domain/milestone.ts';
import { bringMilestone, type Json, type TestApp } from './support/app.ts';
import { openContractApp, snapshot } from './support/contract.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openContractApp();
});
afterAll(() => app.stop());

const patch = (path: string, body: Json, headers: Record<string, string> = {}) => app.call('PATCH', path, { body, headers });

/** The shortest way to each status. */
const ways: Record<MilestoneStatus, MilestoneStatus[]> = {
  pending: [],
  in_progress: ['in_progress'],
  submitted: ['submitted'],
  changes_requested: ['submitted', 'changes_requested'],
  approved: ['submitted', 'approved'],
  cancelled: ['cancelled'],
};

async function milestoneIn(status: MilestoneStatus): Promise<Json> {
  let { milestone } = await bringMilestone(app, 'pending');
  for (const to of ways[status]) milestone = await app.ok('PATCH', `/v1/milestones/${milestone.id}`, { body: { status: to, reason: 'r' } });
  expect(milestone.status).toBe(status);
  return milestone;
}

describe('moves', () => {
  const cells = milestoneStatuses.flatMap((from) => milestoneStatuses.map((to) => [from, to] as const));
  test.each(cells)('%s to %s: moves, changes nothing, or is a 409 that names the allowed moves', async (from, to) => {
    const milestone = await milestoneIn(from);
    const allowed: readonly string[] = milestoneMoves[from];
    expect(milestone.allowed_transitions).toEqual(allowed);
    const before = await snapshot(app);
    const { status, body } = await patch(`/v1/milestones/${milestone.id}`, {
      status: to,
      ...(to === 'changes_requested' ? { reason: 'r' } : {}),
    });
    if (allowed.includes(to)) {
      expect([status, body.status, body.version]).toEqual([200, to, milestone.version + 1]);
      return;
    }
    if (from === to) expect([status, body]).toEqual([200, milestone]);
    else {
      expect([status, body.code]).toEqual([409, 'invalid_transition']);
      for (const move of allowed) expect(body.detail).toContain(move);
    }
    expect(await snapshot(app)).toEqual(before);
  });

  test('requesting changes without a reason is refused at /reason', async () => {
    const { id } = await milestoneIn('submitted');
    const { status, body } = await patch(`/v1/milestones/${id}`, { status: 'changes_requested' });
    expect([status, body.errors]).toEqual([
      422,
      [{ pointer: '/reason', code: 'required', message: expect.stringContaining('"reason" is required') }],
    ]);
  });

  test('the amount is fixed once submitted, everything once final; what changes nothing is accepted in any status', async () => {
    for (const from of milestoneStatuses) {
      const milestone = await milestoneIn(from);
      const path = `/v1/milestones/${milestone.id}`;
      const isOpen = ['pending', 'in_progress', 'changes_requested'].includes(from);
      const isFinal = ['approved', 'cancelled'].includes(from);
      expect((await patch(path, { amount: milestone.amount, title: milestone.title })).body).toEqual(milestone);
      const amount = await patch(path, { amount: 1, currency: 'JPY' });
      expect([from, amount.status, amount.body.code]).toEqual([from, isOpen ? 200 : 409, isOpen ? undefined : 'not_editable']);
      const title = await patch(path, { title: 'new', metadata: { a: 'b' } });
      expect([from, title.status, title.body.code]).toEqual([from, isFinal ? 409 : 200, isFinal ? 'not_editable' : undefined]);
    }
  });

  test('fields and status are one decision: when one is refused, neither happens', async () => {
    const { id } = await milestoneIn('pending');
    const before = await snapshot(app);
    expect((await patch(`/v1/milestones/${id}`, { amount: 7, status: 'approved' })).status).toBe(409);
    expect(await snapshot(app)).toEqual(before);
    const both = await app.ok('PATCH', `/v1/milestones/${id}`, { body: { amount: 7, status: 'submitted' } });
    expect([both.amount, both.status]).toEqual([7, 'submitted']);
  });
});

describe('an archived project', () => {
  test('refuses new milestones, moves and edits with project_archived, reads on, and takes all of it when active again', async () => {
    const { project, milestone } = await bringMilestone(app, 'submitted');
    const path = `/v1/milestones/${milestone.id}`;
    expect((await patch(`/v1/projects/${project.id}`, { status: 'archived' })).body.allowed_transitions).toEqual(['active']);
    const before = await snapshot(app);
    const refused = [
      await app.call('POST', `/v1/projects/${project.id}/milestones`, { body: { title: 't', amount: 1 } }),
      await patch(path, { status: 'approved' }),
      await patch(path, { status: 'in_progress' }),
      await patch(path, { title: 'x' }),
    ];
    for (const { status, body } of refused) expect([status, body.code]).toEqual([409, 'project_archived']);
    expect(await snapshot(app)).toEqual(before);
    expect((await patch(path, { status: 'submitted' })).body).toEqual(milestone);
    expect((await app.call('GET', path)).status).toBe(200);
    await app.ok('PATCH', `/v1/projects/${project.id}`, { body: { status: 'active' } });
    expect((await patch(path, { status: 'approved' })).status).toBe(200);
  });
});

describe('keys', () => {
  test('a revoked key cannot be rotated, and revoking it again changes nothing', async () => {
    const key = await app.ok('POST', '/v1/api_keys', { body: { name: 'k' } });
    const first = await app.ok('DELETE', `/v1/api_keys/${key.id}`);
    expect(first).toMatchObject({ status: 'revoked', revoked_at: expect.any(String) });
    expect((await app.ok('DELETE', `/v1/api_keys/${key.id}`)).revoked_at).toBe(first.revoked_at);
    const { status, body } = await app.call('POST', `/v1/api_keys/${key.id}/rotate`);
    expect([status, body.code]).toEqual([409, 'invalid_transition']);
  });

  test('a key gives no scope it lacks, neither by creation nor by rotation', async () => {
    const narrow = await app.addKey(app.workspaceId, ['api_keys:write', 'events:read']);
    const wide = await app.ok('POST', '/v1/api_keys', { body: { name: 'wide' } });
    const before = await snapshot(app);
    const answers = [
      await app.call('POST', '/v1/api_keys', { key: narrow, body: { name: 'k', scopes: ['events:read', 'payments:release'] } }),
      await app.call('POST', `/v1/api_keys/${wide.id}/rotate`, { key: narrow }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([403, 'scope_escalation']);
      expect(body.detail).toContain('payments:release');
    }
    expect(await snapshot(app)).toEqual(before);
    const made = await app.ok('POST', '/v1/api_keys', { key: narrow, body: { name: 'k' } });
    expect(made.scopes).toEqual(['api_keys:write', 'events:read']);
  });

  test('after a rotation both secrets work for the overlap, and with none the old one ends at once', async () => {
    const old = await app.ok('POST', '/v1/api_keys', { body: { name: 'k', scopes: ['projects:read'] } });
    const next = await app.ok('POST', `/v1/api_keys/${old.id}/rotate`, { body: { overlap_seconds: 60 } });
    expect([next.id === old.id, next.name, next.scopes]).toEqual([false, 'k', ['projects:read']]);
    for (const { secret } of [old, next]) expect((await app.call('GET', '/v1/projects', { key: secret })).status).toBe(200);
    const last = await app.ok('POST', `/v1/api_keys/${next.id}/rotate`, { body: { overlap_seconds: 0 } });
    expect((await app.call('GET', '/v1/projects', { key: next.secret })).body.code).toBe('api_key_revoked');
    expect((await app.call('GET', '/v1/projects', { key: last.secret })).status).toBe(200);
  });
});

describe('conditional requests', () => {
  const edits: Record<string, Json> = {
    projects: { name: 'edited' },
    milestones: { title: 'edited' },
    webhook_endpoints: { description: 'edited' },
  };
  async function resource(kind: string): Promise<string> {
    if (kind === 'webhook_endpoints')
      return `/v1/${kind}/${(await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://a.b' } })).id}`;
    const { project, milestone } = await bringMilestone(app, 'pending');
    return `/v1/${kind}/${kind === 'projects' ? project.id : milestone.id}`;
  }

  test.each(
    Object.keys(edits),
  )('%s: the ETag is the version, a 304 answers who holds it, and it changes with every change only', async (kind) => {
    const path = await resource(kind);
    const first = await app.call('GET', path);
    const etag = first.headers.etag as string;
    expect(etag).toBe(`"${first.body.version}"`);
    for (const held of [etag, `W/${etag}`, `"0", ${etag}`, '*']) {
      const { status, text, headers } = await app.call('GET', path, { headers: { 'if-none-match': held } });
      expect([held, status, text, headers.etag]).toEqual([held, 304, '', etag]);
    }
    expect((await patch(path, {})).headers.etag).toBe(etag);
    const edited = await patch(path, edits[kind]);
    expect(edited.headers.etag).not.toBe(etag);
    const again = await app.call('GET', path, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.etag]).toEqual([200, edited.headers.etag]);
  });

  test.each(
    Object.keys(edits),
  )('%s: a stale or unreadable If-Match is a 412 and changes nothing; the current one and * are met', async (kind) => {
    const path = await resource(kind);
    await app.ok('PATCH', path, { body: edits[kind] });
    const before = await snapshot(app);
    for (const match of ['"1"', '"3"', 'W/"2"', '2', '"2", "1"', '""', '"x"', '"99999999999999999999"']) {
      const { status, body } = await patch(path, { ...edits[kind], metadata: undefined }, { 'if-match': match });
      expect([match, status, body.code]).toEqual([match, 412, 'precondition_failed']);
    }
    expect(await snapshot(app)).toEqual(before);
    for (const match of ['"2"', ' "2" ', '*']) expect((await patch(path, {}, { 'if-match': match })).status).toBe(200);
  });

  test('of several editors that hold the same version, one wins, even when all arrive at once', async () => {
    const path = await resource('milestones');
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => patch(path, { title: `t${i}` }, { 'if-match': '"1"' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
    const winner = answers.find(({ status }) => status === 200);
    expect((await app.ok('GET', path)).title).toBe(winner?.body.title);
  });

  test('where an operation takes no If-Match, one that is sent does not matter', async () => {
    const path = await resource('webhook_endpoints');
    const headers = { 'if-match': 'W/"x"' };
    expect((await app.call('POST', `${path}/rotate_secret`, { headers })).status).toBe(200);
    expect((await app.call('POST', '/v1/projects', { headers, body: { name: 'n', client_id: 'c' } })).status).toBe(201);
    expect((await app.call('DELETE', path, { headers })).status).toBe(204);
  });
});
