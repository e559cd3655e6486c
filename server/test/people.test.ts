// People: signing up and in, the second factor, sessions, and the limits on trying, through the routes on the embedded database.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS } from '../src/accounts/sign-in-limits.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import {
  type Browser,
  openBrowser,
  PASSWORD,
  printSetupToken,
  signUpMember,
  signUpOwner,
  signUpOwnerWithTotp,
  tokenOf,
  totp,
} from './support/people.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openTestApp();
});
afterEach(() => app.stop());

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.call('POST', '/v1/account/sign_in', { body: { email, password } });
const signUp = (browser: Browser, body: object) =>
  browser.call('POST', '/v1/account/sign_up', { body: { email: 'ada@example.com', password: PASSWORD, name: 'Ada', ...body } });

describe('the first person', () => {
  test('owns the default workspace and is signed in (I-28)', async () => {
    const browser = openBrowser(app);
    expect(await browser.ok('GET', '/v1/account/setup')).toEqual({ object: 'setup', needs_setup: true });
    const made = await signUp(browser, { email: 'Ada@Example.com', setup_token: await printSetupToken(app) });
    expect(made.status, made.text).toBe(201);
    expect(made.body.account).toMatchObject({ email: 'ada@example.com', name: 'Ada', workspaces: [{ role: 'owner' }] });
    expect(await browser.ok('GET', '/v1/account')).toEqual(made.body.account);
    expect((await browser.ok('GET', '/v1/projects')).data).toEqual([]);
    expect(await browser.ok('GET', '/v1/account/setup')).toEqual({ object: 'setup', needs_setup: false });
  });

  test('is not made without a token, with another one, or with one from before a restart; nothing of a token is at rest but its hash (I-28)', async () => {
    const browser = openBrowser(app);
    const old = await printSetupToken(app);
    const current = await printSetupToken(app);
    expect((await signUp(browser, {})).status).toBe(422);
    for (const setup_token of ['setup_wrong', old]) expect((await signUp(browser, { setup_token })).body.code).toBe('sign_up_refused');
    const [row] = await app.database.query<{ text: string }>('select setup_tokens::text as text from setup_tokens');
    expect(row?.text).not.toContain(current);
    expect((await signUp(browser, { setup_token: current })).status).toBe(201);
    expect(await app.database.query('select 1 from setup_tokens')).toEqual([]);
  });

  test('is one, of many who sign up at once with the same token (I-28)', async () => {
    const setup_token = await printSetupToken(app);
    const browsers = Array.from({ length: 6 }, () => openBrowser(app));
    const answers = await Promise.all(browsers.map((browser, i) => signUp(browser, { email: `p${i}@example.com`, setup_token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403]);
    const [counts] = await app.database.query(
      'select (select count(*)::int from members) as members, (select count(*)::int from identity_users) as people',
    );
    expect(counts).toEqual({ members: 1, people: 1 });
    expect((await signUp(openBrowser(app), { email: 'late@example.com', setup_token })).body.code).toBe('sign_up_refused');
  });

  test.each([
    ['too short', 'elevenchars'],
    ['of one letter', 'aaaaaaaaaaaaaaaa'],
    ["everybody's", 'password123456'],
    ['the address', 'ada@example.com'],
  ])('a password that is %s is refused with a reason', async (_what, password) => {
    const refused = await signUp(openBrowser(app), { password, setup_token: await printSetupToken(app) });
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0].pointer).toBe('/password');
  });
});

describe('signing in', () => {
  test('sets a cookie that scripts and other sites cannot use, new at each sign-in, and no other (I-29)', async () => {
    const owner = await signUpOwner(app);
    const before = owner.cookies.get('tranche_session');
    await signIn(owner, 'owner@example.com');
    const after = owner.cookies.get('tranche_session');
    expect(after).not.toBe(before);
    for (const line of owner.received) expect(line).toMatch(/^tranche_session=[^;]+; .*HttpOnly.*SameSite=Strict/);
    expect(owner.received.some((line) => /domain=/i.test(line))).toBe(false);
  });

  test('a session that an attacker planted is not taken over by who signs in (I-29)', async () => {
    await signUpOwner(app);
    const victim = openBrowser(app);
    const planted = 'plantedplantedplantedplantedpl.signature';
    victim.cookies.set('tranche_session', planted);
    await signIn(victim, 'owner@example.com');
    expect(victim.cookies.get('tranche_session')).not.toContain('planted');
    const attacker = openBrowser(app);
    attacker.cookies.set('tranche_session', planted);
    expect((await attacker.call('GET', '/v1/account')).body.code).toBe('not_signed_in');
  });

  test('the cookie is kept to https where the browser came over it, and to this very host where the configuration says so (I-29)', async () => {
    await signUpOwner(app);
    const proxied = openBrowser(app, { 'x-forwarded-proto': 'https' });
    await signIn(proxied, 'owner@example.com');
    expect(proxied.received[0]).toMatch(/; Secure/);
    const other = await openTestApp({ environment: { PUBLIC_URL: 'https://tranche.test' } });
    try {
      const browser = openBrowser(other, { origin: 'https://tranche.test' });
      const setup_token = await printSetupToken(other);
      await browser.ok('POST', '/v1/account/sign_up', { body: { email: 'a@b.test', password: PASSWORD, name: 'A', setup_token } });
      expect(browser.received[0]).toMatch(/^__Host-tranche_session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict/);
      expect((await browser.ok('GET', '/v1/account')).email).toBe('a@b.test');
      // A page that came over http may be somebody else's, although its host is the same.
      const plain = openBrowser(other, { origin: 'http://tranche.test' });
      expect((await signIn(plain, 'a@b.test')).body.code).toBe('foreign_origin');
    } finally {
      await other.stop();
    }
  });

  test('whoever could sign up can sign in: an address is judged alike', async () => {
    const owner = await signUpOwner(app);
    for (const email of ['a@b', 'a b@c.test', 'a@b..test', 'ä@b.test', '.a@b.test'])
      expect((await owner.call('POST', '/v1/invitations', { body: { email, role: 'viewer' } })).status, email).toBe(422);
    const member = await signUpMember(app, owner, 'viewer', "Ada.O'Neil+x@Mail.example.co.uk");
    expect((await signIn(member, "ada.o'neil+x@mail.example.co.uk")).status).toBe(200);
  });

  test('a wrong password and an unknown address are answered alike', async () => {
    await signUpOwner(app);
    const wrong = await signIn(openBrowser(app), 'owner@example.com', 'not the password');
    const unknown = await signIn(openBrowser(app), 'nobody@example.com');
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    const comparable = (text: string): string => text.replace(/"request_id":"[^"]*"/, '');
    expect(comparable(wrong.text)).toBe(comparable(unknown.text));
  });

  test('neither password nor token nor secret is stored or logged', async () => {
    const owner = await signUpOwner(app);
    const { secret, backup_codes } = await owner.ok('POST', '/v1/account/totp', { body: { password: PASSWORD } });
    const token = decodeURIComponent(owner.cookies.get('tranche_session') as string).split('.')[0] as string;
    const tables = ['identity_users', 'identity_accounts', 'identity_sessions', 'identity_totp', 'identity_challenges', 'audit_entries'];
    for (const table of tables) {
      const rows = await app.database.query<{ text: string }>(`select t::text as text from ${table} t`);
      for (const { text } of rows) {
        for (const word of [PASSWORD, token, secret, backup_codes[0]]) {
          expect(text).not.toContain(word);
          // As bytes are shown.
          expect(text).not.toContain(Buffer.from(word).toString('hex'));
        }
      }
    }
  });
});

describe('trying too often', () => {
  test('is refused for an account, from wherever it is tried, with the time to wait, the right password too (I-30)', async () => {
    const owner = await signUpOwner(app);
    const attempts = await Promise.all(
      Array.from({ length: ATTEMPTS_PER_ACCOUNT + 5 }, (_, i) =>
        signIn(openBrowser(app, { 'user-agent': `attempt ${i}` }), 'owner@example.com', `wrong password ${i}`),
      ),
    );
    expect(attempts.filter(({ status }) => status === 401)).toHaveLength(ATTEMPTS_PER_ACCOUNT);
    const refused = await signIn(openBrowser(app), 'Owner@example.com');
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
    expect((await owner.call('GET', '/v1/account')).status).toBe(200);
  });

  test('is refused for an address, whichever accounts it tries (I-30)', async () => {
    let refused = 0;
    for (let i = 0; i < ATTEMPTS_PER_ADDRESS + 3; i++) {
      const lookUp = await openBrowser(app).call('POST', '/v1/invitations/lookup', { body: { token: `inv_${i}` } });
      if (lookUp.status === 429) refused += 1;
    }
    expect(refused).toBe(3);
    expect((await signIn(openBrowser(app), 'anybody@example.com')).status).toBe(429);
  });

  test('a success forgets what was tried before', async () => {
    await signUpOwner(app);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < ATTEMPTS_PER_ACCOUNT - 1; i++) await signIn(openBrowser(app), 'owner@example.com', 'a wrong password');
      expect((await signIn(openBrowser(app), 'owner@example.com')).status).toBe(200);
    }
  });
});

describe('the second factor', () => {
  const complete = (browser: Browser, code: string) => browser.call('POST', '/v1/account/sign_in/totp', { body: { code } });

  test('is asked for from the first right code on: the password alone opens nothing (I-31)', async () => {
    const { owner, secret, uri } = await signUpOwnerWithTotp(app);
    expect(uri).toContain(`secret=${secret}`);
    expect((await owner.ok('GET', '/v1/account')).totp_enabled).toBe(true);
    const browser = openBrowser(app);
    expect((await signIn(browser, 'owner@example.com')).body).toEqual({ object: 'sign_in', totp_required: true, account: null });
    expect(browser.cookies.has('tranche_session')).toBe(false);
    expect((await browser.call('GET', '/v1/account')).body.code).toBe('not_signed_in');
    expect((await complete(browser, '000000')).body.code).toBe('wrong_code');
    const done = await complete(browser, totp(secret));
    expect(done.status, done.text).toBe(200);
    expect((await browser.ok('GET', '/v1/account')).email).toBe('owner@example.com');
  });

  test('a code is good once, also for two sign-ins at once (I-31)', async () => {
    const { secret } = await signUpOwnerWithTotp(app);
    const browsers = [openBrowser(app), openBrowser(app)];
    for (const browser of browsers) await signIn(browser, 'owner@example.com');
    const code = totp(secret);
    const answers = await Promise.all(browsers.map((browser) => complete(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const later = openBrowser(app);
    await signIn(later, 'owner@example.com');
    expect((await complete(later, code)).body.code).toBe('wrong_code');
    // The code that turned the factor on was seen by whoever watched: it opens nothing either.
    expect((await complete(later, totp(secret, -1))).body.code).toBe('wrong_code');
  });

  test('a backup code takes its place once', async () => {
    const { backupCodes } = await signUpOwnerWithTotp(app);
    for (const status of [200, 403]) {
      const browser = openBrowser(app);
      await signIn(browser, 'owner@example.com');
      expect((await complete(browser, backupCodes[0] as string)).status).toBe(status);
    }
  });

  test('a code without a right password before it opens nothing, and five wrong ones end the sign-in', async () => {
    const { secret } = await signUpOwnerWithTotp(app);
    expect((await complete(openBrowser(app), totp(secret))).body.code).toBe('wrong_code');
    const browser = openBrowser(app);
    await signIn(browser, 'owner@example.com');
    for (let i = 0; i < 6; i++) await complete(browser, `00000${i}`);
    expect((await complete(browser, totp(secret))).status).toBe(403);
  });

  test('is turned off with the password only', async () => {
    const { owner } = await signUpOwnerWithTotp(app);
    expect((await owner.call('POST', '/v1/account/totp/disable', { body: { password: 'not the password' } })).body.code).toBe(
      'wrong_password',
    );
    expect((await owner.call('POST', '/v1/account/totp/disable', { body: { password: PASSWORD } })).status).toBe(204);
    expect((await signIn(openBrowser(app), 'owner@example.com')).body.totp_required).toBe(false);
  });
});

describe('sessions', () => {
  test('are listed, and end by signing out, by being revoked, and by a change of password (I-29)', async () => {
    const owner = await signUpOwner(app);
    const others = [openBrowser(app), openBrowser(app), openBrowser(app)];
    for (const other of others) await signIn(other, 'owner@example.com');
    const [leaving, revoked, other] = others as [Browser, Browser, Browser];
    const list = (await owner.ok('GET', '/v1/account/sessions')).data;
    expect(list).toHaveLength(4);
    expect(list.filter((session: { current: boolean }) => session.current)).toHaveLength(1);
    expect(list[0]).toMatchObject({ object: 'session', user_agent: 'Test browser', ip: '127.0.0.1' });

    await leaving.ok('POST', '/v1/account/sign_out');
    expect((await leaving.call('GET', '/v1/account')).status).toBe(401);
    const { id } = (await revoked.ok('GET', '/v1/account/sessions')).data.find((session: { current: boolean }) => session.current);
    expect((await owner.call('DELETE', `/v1/account/sessions/${id}`)).status).toBe(204);
    expect((await revoked.call('GET', '/v1/projects')).body.code).toBe('not_signed_in');
    expect((await owner.call('DELETE', `/v1/account/sessions/${id}`)).status).toBe(404);

    // As long as a password may be, of characters that take two units of UTF-16 each.
    const body = { current_password: PASSWORD, new_password: `another staple ${'🐎'.repeat(113)}` };
    expect((await owner.call('POST', '/v1/account/password', { body: { ...body, current_password: 'x' } })).body.code).toBe(
      'wrong_password',
    );
    expect((await owner.call('POST', '/v1/account/password', { body })).status).toBe(204);
    expect((await other.call('GET', '/v1/account')).status).toBe(401);
    expect((await owner.call('GET', '/v1/account')).status).toBe(200);
    expect((await signIn(openBrowser(app), 'owner@example.com')).status).toBe(401);
    expect((await signIn(openBrowser(app), 'owner@example.com', body.new_password)).status).toBe(200);
  });

  test('of others are neither seen nor ended', async () => {
    const owner = await signUpOwner(app);
    const viewer = await signUpMember(app, owner, 'viewer');
    const [session] = (await owner.ok('GET', '/v1/account/sessions')).data;
    expect((await viewer.call('DELETE', `/v1/account/sessions/${session.id}`)).status).toBe(404);
    expect((await viewer.ok('GET', '/v1/account/sessions')).data).toHaveLength(1);
    expect((await owner.call('GET', '/v1/account')).status).toBe(200);
  });

  test('a session counts as one key for the limit of requests, in whichever workspace', async () => {
    const limited = await openTestApp({ limitPerMinute: 5 });
    try {
      const owner = await signUpOwner(limited);
      const made = await owner.ok('POST', '/v1/workspaces', { body: { name: 'Second' } });
      const answers = [];
      for (const workspace of [made.id, made.id, null, null, made.id]) {
        owner.workspace = workspace;
        answers.push((await owner.call('GET', workspace === null ? '/v1/account' : '/v1/projects')).status);
      }
      expect(answers).toEqual([200, 200, 200, 200, 429]);
    } finally {
      await limited.stop();
    }
  });
});

describe('somebody who has lost the password', () => {
  test('gets another from the operator, and the second factor and every session end', async () => {
    await signUpOwnerWithTotp(app);
    const { email, password } = await app.store.operations.resetPassword({ email: 'Owner@example.com' }, () => {});
    await expect(app.store.operations.resetPassword({ email: 'nobody@example.com' }, () => {})).rejects.toThrow(/Nobody/);
    expect((await openBrowser(app).call('POST', '/v1/account/sign_in', { body: { email, password: PASSWORD } })).status).toBe(401);
    expect((await signIn(openBrowser(app), email, password)).body.totp_required).toBe(false);
    expect(await app.database.query('select 1 from identity_sessions')).toHaveLength(1);
  });
});

describe('where a request comes from', () => {
  test.each([
    ['from another site', { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
    ['from another site, by a browser that tells only the origin', { origin: 'https://evil.test', 'sec-fetch-site': '' }],
    ['from a sandbox', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour of the same site', { origin: 'http://localhost:99', 'sec-fetch-site': 'same-site' }],
    ['that does not say where it comes from', { origin: '', 'sec-fetch-site': '' }],
  ])('a write with a session %s is refused and changes nothing (I-32)', async (_what, headers) => {
    const owner = await signUpOwner(app);
    const cookie = `tranche_session=${owner.cookies.get('tranche_session')}`;
    const sent = Object.fromEntries(Object.entries({ cookie, ...headers }).filter(([, value]) => value !== ''));
    const body = { name: 'Forged', client_id: 'c' };
    expect((await app.call('POST', '/v1/projects', { key: null, headers: sent, body })).body.code).toBe('foreign_origin');
    expect((await app.call('PATCH', '/v1/account', { key: null, headers: sent, body: { name: 'Forged' } })).body.code).toBe(
      'foreign_origin',
    );
    expect((await owner.ok('GET', '/v1/projects')).data).toEqual([]);
  });

  test('a read from another site is refused, one that was typed in is answered (I-32)', async () => {
    const owner = await signUpOwner(app);
    const cookie = `tranche_session=${owner.cookies.get('tranche_session')}`;
    const read = (site: string) => app.call('GET', '/v1/projects', { key: null, headers: { cookie, 'sec-fetch-site': site } });
    expect((await read('cross-site')).body.code).toBe('foreign_origin');
    expect((await read('none')).status).toBe(200);
  });

  test('a foreign page signs nobody in (I-32)', async () => {
    await signUpOwner(app);
    expect((await signIn(openBrowser(app, { origin: 'https://evil.test' }), 'owner@example.com')).body.code).toBe('foreign_origin');
  });

  test('a key goes before a session, and needs to say nothing of where it comes from', async () => {
    const owner = await signUpOwner(app);
    const cookie = `tranche_session=${owner.cookies.get('tranche_session')}`;
    expect((await app.call('POST', '/v1/projects', { headers: { cookie }, body: { name: 'n', client_id: 'c' } })).status).toBe(201);
    const wrong = await app.call('GET', '/v1/projects', { key: 'tr_live_wrong', headers: { cookie } });
    expect(wrong.body.code).toBe('invalid_api_key');
  });
});

describe('workspaces of a person', () => {
  test('are chosen by a header, which may be left out with one alone; others are closed', async () => {
    const owner = await signUpOwner(app);
    const other = await app.addWorkspace();
    expect((await owner.call('GET', '/v1/projects')).status).toBe(200);
    const second = await owner.ok('POST', '/v1/workspaces', { body: { name: 'Second' } });
    expect((await owner.ok('GET', '/v1/account')).workspaces.map(({ name }: { name: string }) => name)).toEqual(['test', 'Second']);
    expect((await owner.call('GET', '/v1/projects')).body.code).toBe('workspace_required');
    owner.workspace = second.id;
    await owner.ok('POST', '/v1/projects', { body: { name: 'Of the second', client_id: 'c' } });
    owner.workspace = 'wsp_00000000000000000000000000';
    const absent = await owner.call('GET', '/v1/projects');
    const { encodeId } = await import('../src/domain/ids.ts');
    owner.workspace = encodeId('workspace', other.id);
    const theirs = await owner.call('GET', '/v1/projects');
    expect([absent.status, theirs.status, theirs.body.code, theirs.body.detail]).toEqual([403, 403, 'not_a_member', absent.body.detail]);
    expect((await app.ok('GET', '/v1/projects')).data).toEqual([]);
  });

  test('somebody invited who has an account accepts with it', async () => {
    const owner = await signUpOwner(app);
    const viewer = await signUpMember(app, owner, 'viewer');
    const second = await owner.ok('POST', '/v1/workspaces', { body: { name: 'Second' } });
    owner.workspace = second.id;
    const { link } = await owner.ok('POST', '/v1/invitations', { body: { email: 'viewer@example.com', role: 'admin' } });
    const token = tokenOf(link);
    expect(await viewer.ok('POST', '/v1/invitations/lookup', { body: { token } })).toMatchObject({
      workspace_name: 'Second',
      invited_by: 'Olivia Owner',
      role: 'admin',
      has_account: true,
    });
    const account = await viewer.ok('POST', '/v1/invitations/accept', { body: { token } });
    expect(account.workspaces.map(({ name, role }: Record<string, string>) => [name, role])).toEqual([
      ['test', 'viewer'],
      ['Second', 'admin'],
    ]);
    expect((await viewer.call('POST', '/v1/invitations/accept', { body: { token } })).status).toBe(410);
  });
});
