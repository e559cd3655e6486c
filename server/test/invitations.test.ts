// What becomes of links that are about when people come, go and change, through the routes, on each database.
// A link must never give back what was taken away.

import { afterEach, describe, expect, test } from 'vitest';
import { MAX_PENDING_INVITATIONS } from '../src/domain/inviting.ts';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { type Browser, openBrowser, PASSWORD, signUpMember, signUpOwner, tokenOf } from './support/people.ts';

let app: TestApp;
afterEach(() => app.stop());

const invite = (browser: Browser, email: string, role: string): Promise<Json> =>
  browser.ok('POST', '/v1/invitations', { body: { email, role } });
const accept = (browser: Browser, link: string) => browser.call('POST', '/v1/invitations/accept', { body: { token: tokenOf(link) } });
const signUpWith = (email: string, link: string) =>
  openBrowser(app).call('POST', '/v1/account/sign_up', {
    body: { email, password: PASSWORD, name: 'New', invitation_token: tokenOf(link) },
  });
const memberOf = async (owner: Browser, email: string): Promise<Json> =>
  (await owner.ok('GET', '/v1/members')).data.find((member: Json) => member.email === email);
const statusOf = async (owner: Browser, { id }: Json): Promise<string> => (await owner.ok('GET', `/v1/invitations/${id}`)).status;

describe.each(testDatabases.filter(({ available }) => available))('on $name', ({ name }) => {
  test('a second link to the same address gives nothing once the first was used, nor after a removal (I-33)', async () => {
    app = await openTestApp({ database: name });
    const owner = await signUpOwner(app);
    const first = await invite(owner, 'grace@example.com', 'viewer');
    // As it stands where two were made at the same moment, or by a version that let both wait.
    const [spare] = await app.database.query<{ id: string }>(
      `insert into invitations (workspace_id, id, email, role, token_hash, invited_by, expires_at, created_at)
       select workspace_id, gen_random_uuid(), email, 'admin', sha256('spare'), invited_by, expires_at, created_at from invitations returning id`,
    );
    expect((await signUpWith('grace@example.com', first.link)).status).toBe(201);
    const [row] = await app.database.query('select revoked_at from invitations where id = $1', [spare?.id]);
    expect(row).not.toMatchObject({ revoked_at: null });
    const log = (await owner.ok('GET', '/v1/audit_entries?action=invitation.revoked')).data;
    expect(log).toMatchObject([{ actor: { type: 'person', name: 'New' }, target: { type: 'invitation' } }]);
    expect(await app.faults()).toEqual([]);
  });

  test('a removal, a demotion and a departure take the links along that their person had or had sent (I-33)', async () => {
    app = await openTestApp({ database: name });
    const owner = await signUpOwner(app);
    const admins = await Promise.all(['a', 'b', 'c'].map((who) => signUpMember(app, owner, 'admin', `${who}@example.com`)));
    const links = await Promise.all(admins.map((admin, i) => invite(admin, `friend${i}@example.com`, 'admin')));
    const kept = await invite(owner, 'kept@example.com', 'viewer');
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((who) => memberOf(owner, `${who}@example.com`)));
    await owner.ok('DELETE', `/v1/members/${a.id}`);
    await owner.ok('PATCH', `/v1/members/${b.id}`, { body: { role: 'finance' } });
    await admins[2]?.ok('DELETE', `/v1/members/${c.id}`);
    for (const [i, link] of links.entries()) {
      expect((await signUpWith(`friend${i}@example.com`, link.link)).body.code).toBe('invitation_invalid');
      expect(await statusOf(owner, link)).toBe('revoked');
    }
    expect(await statusOf(owner, kept)).toBe('pending');
    // Who comes back has what the new invitation says, whatever was about before.
    const back = await invite(owner, 'a@example.com', 'viewer');
    expect((await accept(admins[0] as Browser, back.link)).status).toBe(200);
    expect((await memberOf(owner, 'a@example.com')).role).toBe('viewer');
  });

  test('a new invitation to an address takes the place of the one before, also of many at once (I-33)', async () => {
    app = await openTestApp({ database: name });
    const owner = await signUpOwner(app);
    const made = await Promise.all(['viewer', 'admin', 'finance', 'viewer'].map((role) => invite(owner, 'Grace@Example.com', role)));
    const states = await Promise.all(made.map((one) => statusOf(owner, one)));
    expect(states.sort()).toEqual(['pending', 'revoked', 'revoked', 'revoked']);
    const tried = [];
    for (const { link } of made) tried.push((await signUpWith('grace@example.com', link)).status);
    expect(tried.filter((status) => status === 201)).toHaveLength(1);
  });

  test(`a workspace has at most ${MAX_PENDING_INVITATIONS} invitations that wait`, async () => {
    app = await openTestApp({ database: name });
    const owner = await signUpOwner(app);
    const emails = Array.from({ length: MAX_PENDING_INVITATIONS + 5 }, (_, i) => `p${i}@example.com`);
    const answers = await Promise.all(emails.map((email) => owner.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(MAX_PENDING_INVITATIONS);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [409, 'too_many_members']));
    const one = answers.find(({ status }) => status === 201)?.body;
    await owner.ok('DELETE', `/v1/invitations/${one.id}`);
    expect((await owner.call('POST', '/v1/invitations', { body: { email: 'late@example.com', role: 'viewer' } })).status).toBe(201);
  });
});

describe('invitations by mail', () => {
  /** Nobody listens there: what is mailed is lost, and in the log. */
  const environment = { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'tranche@example.com', PUBLIC_URL: 'http://tranche.test' };

  test('go to one address five times an hour from all workspaces together; a repetition mails nothing and is answered', async () => {
    app = await openTestApp({ environment });
    const owner = await signUpOwner(app);
    const other = await app.addWorkspace();
    const body = { email: 'grace@example.com', role: 'viewer' };
    const once = { body, headers: { 'idempotency-key': 'once' } };
    for (let i = 0; i < 3; i++)
      expect((await owner.call('POST', '/v1/invitations', once)).body).toMatchObject({ mailed: true, link: null });
    for (let i = 0; i < 4; i++) await app.ok('POST', '/v1/invitations', { body, key: other.key });
    const refused = await owner.call('POST', '/v1/invitations', { body });
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_mails']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3500);
    expect((await owner.call('POST', '/v1/invitations', once)).status).toBe(201);
    expect((await owner.call('POST', '/v1/invitations', { body: { ...body, email: 'other@example.com' } })).status).toBe(201);
    expect((await owner.ok('GET', '/v1/invitations')).data).toHaveLength(2);
  });
});

describe('a workspace of one’s own', () => {
  test('is made by those who own one, so that an invitation to one workspace is no right to more', async () => {
    app = await openTestApp();
    const owner = await signUpOwner(app);
    const admin = await signUpMember(app, owner, 'admin');
    const may = async (): Promise<boolean> => (await admin.ok('GET', '/v1/account')).may_create_workspaces;
    expect(await may()).toBe(false);
    const refused = await admin.call('POST', '/v1/workspaces', { body: { name: 'Mine' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'workspace_creation_refused']);
    await owner.ok('POST', `/v1/members/${(await memberOf(owner, 'admin@example.com')).id}/make_owner`);
    expect(await may()).toBe(true);
    expect((await admin.call('POST', '/v1/workspaces', { body: { name: 'Mine' } })).status).toBe(201);
  });

  test('is made by anyone who is signed in where the operator says so', async () => {
    app = await openTestApp({ environment: { WORKSPACE_CREATION: 'anyone' } });
    const viewer = await signUpMember(app, await signUpOwner(app), 'viewer');
    expect((await viewer.ok('GET', '/v1/account')).may_create_workspaces).toBe(true);
    expect((await viewer.call('POST', '/v1/workspaces', { body: { name: 'Mine' } })).status).toBe(201);
  });
});
