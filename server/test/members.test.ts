// Members, invitations, the audit log and closing a workspace, through the routes; and what the lane holds a session against.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runBatch } from '../src/commands/batch.ts';
import type { Envelope } from '../src/commands/command.ts';
import { createProject } from '../src/commands/create-project.ts';
import { revokeApiKey } from '../src/commands/revoke-api-key.ts';
import { INVITATION_LIFETIME_MS } from '../src/domain/invitation.ts';
import { newId } from '../src/open-store.ts';
import type { Database, Queryable } from '../src/store/database.ts';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { type Browser, openBrowser, PASSWORD, signUpMember, signUpOwner, tokenOf } from './support/people.ts';

let app: TestApp;
let owner: Browser;
beforeEach(async () => {
  app = await openTestApp();
  owner = await signUpOwner(app);
});
afterEach(() => app.stop());

const members = async (): Promise<Json[]> => (await owner.ok('GET', '/v1/members')).data;
const memberOf = async (email: string): Promise<Json> => (await members()).find((member) => member.email === email);
const invite = (browser: Browser, email: string, role: string) => browser.call('POST', '/v1/invitations', { body: { email, role } });
const signUpWith = (token: string, email: string) =>
  openBrowser(app).call('POST', '/v1/account/sign_up', { body: { email, password: PASSWORD, name: 'New', invitation_token: token } });
const project = { name: 'Website', client_id: 'acme' };

describe('invitations', () => {
  test('a link is good once, for its address alone, and nothing of it is at rest but a hash (I-33)', async () => {
    const { link, mailed } = (await invite(owner, 'Grace@Example.com', 'developer')).body;
    expect(mailed).toBe(false);
    expect(link).toMatch(/^http:\/\/localhost(:80)?\/accept-invitation#token=inv_[\w-]{24}$/);
    const token = tokenOf(link);
    expect((await signUpWith(token, 'other@example.com')).body.code).toBe('invitation_invalid');
    const answers = await Promise.all([signUpWith(token, 'grace@example.com'), signUpWith(token, 'grace@example.com')]);
    expect(answers.map(({ status }) => status).sort()[0]).toBe(201);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await signUpWith(token, 'grace@example.com')).body.code).toBe('invitation_invalid');
    expect((await members()).map(({ email, role }) => [email, role])).toEqual([
      ['grace@example.com', 'developer'],
      ['owner@example.com', 'owner'],
    ]);
    for (const table of ['invitations', 'audit_entries', 'idempotency_keys']) {
      for (const { text } of await app.database.query<{ text: string }>(`select t::text as text from ${table} t`))
        expect(text).not.toContain(token);
    }
  });

  test('one that was revoked or has expired makes nobody a member (I-33)', async () => {
    const revoked = (await invite(owner, 'a@example.com', 'viewer')).body;
    expect((await owner.ok('DELETE', `/v1/invitations/${revoked.id}`)).status).toBe('revoked');
    expect((await signUpWith(tokenOf(revoked.link), 'a@example.com')).body.code).toBe('invitation_invalid');
    const expired = (await invite(owner, 'b@example.com', 'viewer')).body;
    await app.database.query("update invitations set expires_at = now() - interval '1 second' where accepted_at is null");
    expect((await signUpWith(tokenOf(expired.link), 'b@example.com')).body.code).toBe('invitation_invalid');
    expect((await openBrowser(app).call('POST', '/v1/invitations/lookup', { body: { token: tokenOf(expired.link) } })).status).toBe(410);
    expect(await members()).toHaveLength(1);
    expect(Date.parse(expired.expires_at) - Date.parse(expired.created_at)).toBe(INVITATION_LIFETIME_MS);
    expect((await owner.ok('GET', '/v1/invitations')).data.map(({ status }: Json) => status)).toEqual(['expired', 'revoked']);
  });

  test('nobody invites to a role that may do more than they may, and members are not invited again', async () => {
    const developerKey = await app.addKey(app.workspaceId, ['members:write']);
    const wide = await app.call('POST', '/v1/invitations', { key: developerKey, body: { email: 'x@example.com', role: 'viewer' } });
    expect(wide.body.code).toBe('scope_escalation');
    expect((await invite(owner, 'x@example.com', 'owner')).status).toBe(422);
    const admin = await signUpMember(app, owner, 'admin');
    expect((await invite(admin, 'x@example.com', 'admin')).status).toBe(201);
    expect((await invite(admin, 'owner@example.com', 'viewer')).body.code).toBe('already_member');
    expect((await app.call('POST', '/v1/invitations', { body: { email: 'y@example.com', role: 'viewer' } })).body.invited_by).toBeNull();
  });

  test('a repetition with the same Idempotency-Key shows the same link and invites once', async () => {
    const call = () =>
      owner.call('POST', '/v1/invitations', { body: { email: 'x@example.com', role: 'viewer' }, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await call(), await call()];
    expect(second.body).toEqual(first.body);
    expect((await owner.ok('GET', '/v1/invitations')).data).toHaveLength(1);
    const admin = await signUpMember(app, owner, 'admin');
    const other = await admin.call('POST', '/v1/invitations', {
      body: { email: 'x@example.com', role: 'viewer' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  test('who was removed can be invited anew, and is the same member again', async () => {
    const viewer = await signUpMember(app, owner, 'viewer');
    const before = await memberOf('viewer@example.com');
    await owner.ok('DELETE', `/v1/members/${before.id}`);
    expect(await members()).toHaveLength(1);
    const { link } = (await invite(owner, 'viewer@example.com', 'finance')).body;
    await viewer.ok('POST', '/v1/invitations/accept', { body: { token: tokenOf(link) } });
    expect(await memberOf('viewer@example.com')).toMatchObject({ id: before.id, role: 'finance' });
  });
});

describe('roles', () => {
  test('the last owner can neither leave nor be demoted, whoever tries, also at once (I-34)', async () => {
    const me = await memberOf('owner@example.com');
    const demote = { body: { role: 'viewer' } };
    expect((await owner.call('PATCH', `/v1/members/${me.id}`, demote)).body.code).toBe('last_owner');
    expect((await owner.call('DELETE', `/v1/members/${me.id}`)).body.code).toBe('last_owner');
    const second = await signUpMember(app, owner, 'admin');
    const other = await memberOf('admin@example.com');
    expect((await second.call('POST', `/v1/members/${second.workspace}/make_owner`)).status).toBe(403);
    await owner.ok('POST', `/v1/members/${other.id}/make_owner`);
    const answers = await Promise.all([
      owner.call('PATCH', `/v1/members/${me.id}`, demote),
      second.call('DELETE', `/v1/members/${other.id}`),
    ]);
    const codes = answers.map(({ status, body }) => (status < 300 ? 'done' : body.code)).sort();
    expect(codes[0]).toBe('done');
    expect(codes[1]).toMatch(/^(last_owner)$/);
    const rows = await app.database.query("select 1 from members where role = 'owner' and removed_at is null");
    expect(rows).toHaveLength(1);
  });

  test('an admin changes everybody but owners; a viewer nobody but leaves', async () => {
    const admin = await signUpMember(app, owner, 'admin');
    const viewer = await signUpMember(app, owner, 'viewer');
    const [me, theirs] = [await memberOf('owner@example.com'), await memberOf('viewer@example.com')];
    expect((await admin.call('PATCH', `/v1/members/${me.id}`, { body: { role: 'viewer' } })).body.code).toBe('insufficient_scope');
    expect((await admin.call('DELETE', `/v1/members/${me.id}`)).body.code).toBe('insufficient_scope');
    expect((await admin.call('POST', `/v1/members/${theirs.id}/make_owner`)).body.code).toBe('insufficient_scope');
    expect((await admin.ok('PATCH', `/v1/members/${theirs.id}`, { body: { role: 'finance' } })).role).toBe('finance');
    expect((await viewer.call('DELETE', `/v1/members/${me.id}`)).body.code).toBe('insufficient_scope');
    expect((await viewer.call('DELETE', `/v1/members/${theirs.id}`)).status).toBe(204);
    expect((await viewer.ok('GET', '/v1/account')).workspaces).toEqual([]);
  });
});

describe('after a removal or a change of role', () => {
  /** A process that still believes what it has looked up: as long as it is asked, a session is what it was. */
  async function believing(browser: Browser) {
    await browser.ok('GET', '/v1/projects');
    return (method: 'POST' | 'GET', path: string, body?: object) => browser.call(method, path, body === undefined ? {} : { body });
  }

  test('no write of the person commits, even where a cache believes otherwise (I-35)', async () => {
    const developer = await signUpMember(app, owner, 'developer');
    const call = await believing(developer);
    expect((await call('POST', '/v1/projects', project)).status).toBe(201);
    // Behind the back of this process, as another one would.
    await app.database.query("update members set removed_at = now() where role = 'developer'");
    const refused = await call('POST', '/v1/projects', project);
    expect([refused.status, refused.body.code]).toEqual([403, 'not_a_member']);
    expect((await owner.ok('GET', '/v1/projects')).data).toHaveLength(1);
  });

  test('no write commits for which the role is too narrow by now (I-35)', async () => {
    const developer = await signUpMember(app, owner, 'developer');
    const call = await believing(developer);
    await app.database.query("update members set role = 'viewer' where role = 'developer'");
    expect((await call('POST', '/v1/projects', project)).body.code).toBe('insufficient_scope');
  });

  test('no write commits with a session that has ended by now (I-35)', async () => {
    const developer = await signUpMember(app, owner, 'developer');
    const call = await believing(developer);
    await app.database.query("delete from identity_sessions where user_id in (select person_id from members where role = 'developer')");
    expect((await call('POST', '/v1/projects', project)).body.code).toBe('not_signed_in');
  });

  test('reads end within a second, and at once on the process that made the change', async () => {
    const developer = await signUpMember(app, owner, 'developer');
    await developer.ok('GET', '/v1/projects');
    const { id } = await memberOf('developer@example.com');
    await owner.ok('DELETE', `/v1/members/${id}`);
    expect((await developer.call('GET', '/v1/projects')).body.code).toBe('workspace_required');
    const viewer = await signUpMember(app, owner, 'viewer');
    await viewer.ok('GET', '/v1/projects');
    const removedAt = performance.now();
    await app.database.query("update members set removed_at = now() where role = 'viewer'");
    while ((await viewer.call('GET', '/v1/projects')).status === 200) expect(performance.now() - removedAt).toBeLessThan(1000);
  });
});

test('a batch in which no person asks sends not one statement for people', async () => {
  const sent: string[] = [];
  const counting = (transaction: Queryable): Queryable => ({
    query: (text, parameters) => {
      sent.push(text);
      return transaction.query(text, parameters);
    },
  });
  const database = {
    transaction: (work: (transaction: Queryable) => Promise<unknown>) => app.database.transaction((inner) => work(counting(inner))),
  };
  const services = { database: database as unknown as Database, clock: () => new Date(), newId, cipher: app.store.cipher };
  const draft = {
    name: 'n',
    clientId: 'c',
    payeeId: null,
    currency: null,
    release: 'on_approval',
    metadata: {},
    milestones: [],
  } as const;
  const [key] = await app.database.query<{ id: string }>('select id from api_keys limit 1');
  const [session] = await app.database.query<{ sessionId: string; personId: string }>(
    'select id as "sessionId", user_id as "personId" from identity_sessions limit 1',
  );
  const shared = {
    workspaceId: app.workspaceId,
    stamp: null,
    idempotency: null,
    bytes: 0,
    render: () => ({ status: 201, headers: {}, body: '' }),
  };
  const run = async (caller: Pick<Envelope<unknown>, 'keyId' | 'member'>): Promise<string[]> => {
    sent.length = 0;
    const { results } = await runBatch([createProject({ ...shared, ...caller }, draft)], 'wait', services);
    expect(results).toMatchObject([{ outcome: { status: 201 } }]);
    return sent;
  };
  const ofKey = await run({ keyId: key?.id as string, member: null });
  expect(ofKey).toHaveLength(4); // The lock, the workspace, the key, and all writes in one.
  expect(ofKey.join()).not.toMatch(/members|identity_|invitations|audit_entries/);
  const ofPerson = await run({ keyId: null, member: { ...(session as { sessionId: string; personId: string }), role: 'owner' } });
  expect(ofPerson).toHaveLength(4);
  expect(ofPerson[2]).toMatch(/members/);
});

describe('the audit log', () => {
  const entries = async (query = ''): Promise<Json[]> => (await owner.ok('GET', `/v1/audit_entries?limit=100${query}`)).data;

  test('says who did what to keys, endpoints, members and invitations, from where, with a session, a key or the command line (I-36)', async () => {
    const key = await owner.ok('POST', '/v1/api_keys', { body: { name: 'Mine' } });
    const next = await app.ok('POST', `/v1/api_keys/${key.id}/rotate`, { body: { overlap_seconds: 0 } });
    const { operations } = app.store;
    const listed = (await operations.listKeys({}, () => {})).map(({ id }) => id);
    expect(listed).toContain(next.id);
    await operations.revokeKey({ id: next.id }, () => {});
    const endpoint = await owner.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://hooks.test/T0K3N?secret=s3cr3t' } });
    await owner.ok('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, {
      body: { url: 'https://hooks.test/other', headers: { 'x-auth': 's3cr3t' } },
    });
    await owner.ok('POST', `/v1/webhook_endpoints/${endpoint.id}/rotate_secret`);
    await owner.ok('DELETE', `/v1/webhook_endpoints/${endpoint.id}`);
    await signUpMember(app, owner, 'viewer');
    const viewer = await memberOf('viewer@example.com');
    await owner.ok('PATCH', `/v1/members/${viewer.id}`, { body: { role: 'finance' } });
    await owner.ok('DELETE', `/v1/members/${viewer.id}`);

    const log = await entries();
    expect(log.map(({ action, actor }) => [action, actor.type, actor.name]).reverse()).toEqual([
      ['member.added', 'person', 'Olivia Owner'],
      ['api_key.created', 'person', 'Olivia Owner'],
      ['api_key.rotated', 'key', 'test'],
      ['api_key.created', 'key', 'test'],
      ['api_key.revoked', 'system', 'Command line'],
      ['webhook_endpoint.created', 'person', 'Olivia Owner'],
      ['webhook_endpoint.updated', 'person', 'Olivia Owner'],
      ['webhook_endpoint.secret_rotated', 'person', 'Olivia Owner'],
      ['webhook_endpoint.deleted', 'person', 'Olivia Owner'],
      ['invitation.created', 'person', 'Olivia Owner'],
      ['invitation.accepted', 'person', 'A viewer'],
      ['member.added', 'person', 'A viewer'],
      ['member.role_changed', 'person', 'Olivia Owner'],
      ['member.removed', 'person', 'Olivia Owner'],
    ]);
    const created = log.find(({ target }) => target.id === key.id && target.type === 'api_key');
    expect(created).toMatchObject({ ip: '127.0.0.1', actor: { type: 'key' } });
    expect(log.find(({ action }) => action === 'member.role_changed')).toMatchObject({
      target: { type: 'member', id: viewer.id },
      changes: [{ field: 'role', from: 'viewer', to: 'finance' }],
      ip: '127.0.0.1',
      user_agent: 'Test browser',
    });
    const text = JSON.stringify(log);
    for (const secret of [key.secret, next.secret, endpoint.secret, 'T0K3N', 's3cr3t']) expect(text).not.toContain(secret);

    expect((await entries('&action=member.removed')).map(({ action }) => action)).toEqual(['member.removed']);
    expect(await entries(`&target_id=${viewer.id}`)).toHaveLength(3);
    const { id: me } = await owner.ok('GET', '/v1/account');
    expect((await entries(`&actor_id=${me}`)).every(({ actor }) => actor.id === me)).toBe(true);
  });

  test('a change that is refused leaves no entry, and an entry without its change cannot be (I-36)', async () => {
    const before = (await entries()).length;
    const me = await memberOf('owner@example.com');
    await owner.call('DELETE', `/v1/members/${me.id}`);
    await invite(owner, 'owner@example.com', 'viewer');
    const envelope = { workspaceId: app.workspaceId, keyId: null, member: null, stamp: null, idempotency: null, bytes: 0 };
    await app.store.lane.submit(revokeApiKey({ ...envelope, render: () => ({ status: 200, headers: {}, body: '' }) }, app.workspaceId));
    expect(await entries()).toHaveLength(before);
  });

  test('the database refuses to change, delete or truncate entries (I-36)', async () => {
    for (const statement of ["update audit_entries set ip = 'x'", 'delete from audit_entries', 'truncate audit_entries'])
      await expect(app.database.query(statement)).rejects.toThrow(/are kept as they are/);
  });

  test('a repair of webhooks is in it with what was asked for, a dry run is not (I-36)', async () => {
    const since = '2026-03-01T00:00:00.000Z';
    await owner.ok('POST', '/v1/webhook_repairs', { body: { action: 'cancel', dry_run: true } });
    const repair = await owner.ok('POST', '/v1/webhook_repairs', { body: { action: 'cancel', since } });
    const stop = await owner.call('POST', `/v1/webhook_repairs/${repair.id}/stop`);
    expect(stop.status).toBe(200);
    const log = await entries(`&target_id=${repair.id}`);
    expect(log.map(({ action, actor }) => [action, actor.name])).toEqual([
      ['webhook_repair.stopped', 'Olivia Owner'],
      ['webhook_repair.created', 'Olivia Owner'],
    ]);
    expect(log[1].changes).toContainEqual({ field: 'action', from: null, to: 'cancel' });
    expect(log[1].changes).toContainEqual({ field: 'since', from: null, to: since });
    expect((await entries()).filter(({ action }) => action.startsWith('webhook_repair'))).toHaveLength(2);
  });

  test('a password that the operator resets is in the log of every open workspace of its person, without the password (I-36)', async () => {
    const admin = await signUpMember(app, owner, 'admin');
    const second = await owner.ok('POST', '/v1/workspaces', { body: { name: 'Second' } });
    owner.workspace = second.id;
    const { link } = (await invite(owner, 'admin@example.com', 'admin')).body;
    await admin.ok('POST', '/v1/invitations/accept', { body: { token: tokenOf(link) } });
    const { password } = await app.store.operations.resetPassword({ email: 'Admin@example.com' }, () => {});
    for (const workspace of (await owner.ok('GET', '/v1/account')).workspaces) {
      owner.workspace = workspace.id;
      const [entry, ...others] = await entries('&action=member.password_reset');
      expect(entry).toMatchObject({ actor: { type: 'system', name: 'Command line' }, target: { type: 'member' }, changes: [] });
      expect(entry.target.id).toBe((await memberOf('admin@example.com')).id);
      expect([others, JSON.stringify(entry).includes(password)]).toEqual([[], false]);
    }
  });

  test('a change of settings is in it (I-36)', async () => {
    await owner.ok('PATCH', '/v1/workspace', { body: { legal_name: 'Studio North Ltd' } });
    const [entry] = await entries('&action=workspace.updated');
    expect(entry.changes).toContainEqual({ field: 'legal_name', from: null, to: 'Studio North Ltd' });
  });
});

describe('closing a workspace', () => {
  test('takes the owner and its name; then keys are revoked, endpoints disabled, and nothing changes any more (I-37)', async () => {
    const admin = await signUpMember(app, owner, 'admin');
    const endpoint = await owner.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://hooks.test/' } });
    await owner.ok('POST', '/v1/projects', { body: project });
    expect((await admin.call('POST', '/v1/workspace/close', { body: { name: 'test' } })).body.code).toBe('insufficient_scope');
    expect((await owner.call('POST', '/v1/workspace/close', { body: { name: 'Test' } })).body.errors[0].pointer).toBe('/name');
    const close = () => owner.call('POST', '/v1/workspace/close', { body: { name: 'test' }, headers: { 'idempotency-key': 'closing' } });
    const { body: closed } = await close();
    const again = await close();
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([closed, 'true']);
    expect(closed).toMatchObject({ object: 'workspace_closing', revoked_api_keys: 1, disabled_webhook_endpoints: 1 });
    expect((await app.call('GET', '/v1/projects')).body.code).toBe('api_key_revoked');
    expect((await owner.call('POST', '/v1/projects', { body: project })).body.code).toBe('workspace_closed');
    expect((await owner.ok('GET', '/v1/projects')).data).toHaveLength(1);
    expect((await owner.ok('GET', `/v1/webhook_endpoints/${endpoint.id}`)).status).toBe('disabled');
    expect((await owner.ok('GET', '/v1/account')).workspaces[0].closed_at).not.toBeNull();
    const actions = (await owner.ok('GET', '/v1/audit_entries')).data.map(({ action }: Json) => action);
    expect(actions).toEqual(expect.arrayContaining(['workspace.closed', 'api_key.revoked', 'webhook_endpoint.disabled']));
    expect(await app.faults()).toEqual([]);
  });
});
