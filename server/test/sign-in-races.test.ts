// Signing in and up when several requests meet: guesses at once, one code twice, a password that changes meanwhile, one address twice.
// Through the routes, on the embedded database; where two transactions have to meet, on PostgreSQL as well.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS } from '../src/accounts/sign-in-limits.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { type Browser, openBrowser, PASSWORD, printSetupToken, signUpOwner, signUpOwnerWithTotp, tokenOf, totp } from './support/people.ts';

const EMAIL = 'owner@example.com';
const NEXT_PASSWORD = 'another staple of mine';

let app: TestApp;
beforeEach(async () => {
  app = await openTestApp();
});
afterEach(() => app.stop());

const signIn = (browser: Browser, password = PASSWORD, email = EMAIL) =>
  browser.call('POST', '/v1/account/sign_in', { body: { email, password } });
const complete = (browser: Browser, code: string) => browser.call('POST', '/v1/account/sign_in/totp', { body: { code } });

/** A browser that has proved the password and is asked for a code. */
async function challenged(): Promise<Browser> {
  const browser = openBrowser(app);
  const asked = await signIn(browser);
  if (asked.body.totp_required !== true) throw new Error(asked.text);
  return browser;
}

/** Holds the next statement back that begins so, until it is let go. */
function holdBack(beginning: string) {
  const { database } = app;
  const query = database.query.bind(database);
  let reached = (): void => {};
  let letGo = (): void => {};
  const waits = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  database.query = async (text, parameters) => {
    if (text.trimStart().startsWith(beginning)) {
      database.query = query;
      reached();
      await gate;
    }
    return query(text, parameters);
  };
  return { waits, letGo };
}

describe('guessing the second factor', () => {
  test.each([
    ['codes', (i: number) => `9${String(i).padStart(5, '0')}`],
    ['backup codes', (i: number) => `guess-${String(i).padStart(5, '0')}`],
  ])('many sign-ins at once allow no more %s than one does, and then the right one waits too (I-31)', async (_what, guess) => {
    const { secret } = await signUpOwnerWithTotp(app);
    const browsers: Browser[] = [];
    for (let i = 0; i < ATTEMPTS_PER_ACCOUNT + 8; i++) browsers.push(await challenged());
    const guesses = await Promise.all(browsers.map((browser, i) => complete(browser, guess(i))));
    expect(guesses.filter(({ body }) => body.code === 'wrong_code')).toHaveLength(ATTEMPTS_PER_ACCOUNT);
    expect(guesses.filter(({ body }) => body.code === 'too_many_attempts')).toHaveLength(8);
    // Neither a right password nor a sign-in that was begun anew gives another guess.
    const refused = await complete(await challenged(), totp(secret));
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
    await app.database.query("update sign_in_attempts set until = now() - interval '1 second'");
    expect((await complete(await challenged(), totp(secret, 1))).status).toBe(200);
  });

  test('a right code forgets the wrong ones before it', async () => {
    const { backupCodes } = await signUpOwnerWithTotp(app);
    for (const code of backupCodes.slice(0, 2)) {
      for (let i = 0; i < 4; i++) expect((await complete(await challenged(), `wrong-${i}`)).body.code).toBe('wrong_code');
      expect((await complete(await challenged(), code)).status).toBe(200);
    }
    expect((await complete(await challenged(), 'wrong')).body.code).toBe('wrong_code');
  });

  test('of many with one backup code at once one is signed in, the others are told that the code does not fit (I-31)', async () => {
    const { backupCodes } = await signUpOwnerWithTotp(app);
    const browsers = await Promise.all(Array.from({ length: 6 }, challenged));
    const answers = await Promise.all(browsers.map((browser) => complete(browser, backupCodes[0] as string)));
    expect(answers.map(({ status, body }) => [status, body.code]).sort()).toEqual([
      [200, undefined],
      ...Array.from({ length: 5 }, () => [403, 'wrong_code']),
    ]);
  });

  test('a cookie that names the counter of a sign-in is no sign-in', async () => {
    await signUpOwnerWithTotp(app);
    const browser = await challenged();
    const [identifier] = decodeURIComponent(browser.cookies.get('tranche_challenge') as string).split('.');
    browser.cookies.set('tranche_challenge', `2fa-attempts-${identifier}.signature`);
    expect((await complete(browser, '123456')).body.code).toBe('wrong_code');
  });

  test('two secrets that are asked for at once are no failure, and the one that counts works', async () => {
    const owner = await signUpOwner(app);
    const asked = await Promise.all(
      Array.from({ length: 4 }, () => owner.call('POST', '/v1/account/totp', { body: { password: PASSWORD } })),
    );
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const outcomes = [];
    for (const { body } of asked)
      outcomes.push((await owner.call('POST', '/v1/account/totp/verify', { body: { code: totp(body.secret) } })).status);
    expect(outcomes.filter((status) => status === 204)).toHaveLength(1);
  });
});

describe('a password that changes while somebody signs in with the old one', () => {
  const change = (owner: Browser) =>
    owner.ok('POST', '/v1/account/password', { body: { current_password: PASSWORD, new_password: NEXT_PASSWORD } });
  const sessions = () => app.database.query('select 1 from identity_sessions');

  test('leaves no session to the sign-in (I-29)', async () => {
    const owner = await signUpOwner(app);
    const { waits, letGo } = holdBack('insert into identity_sessions');
    const late = openBrowser(app);
    const entering = signIn(late);
    await waits;
    await change(owner);
    letGo();
    expect((await entering).body.code).toBe('wrong_credentials');
    expect(late.cookies.has('tranche_session')).toBe(false);
    expect(await sessions()).toHaveLength(1);
    expect((await signIn(openBrowser(app), NEXT_PASSWORD)).status).toBe(200);
  });

  test('ends a sign-in that waits for its code, and one that has sent it (I-29)', async () => {
    const { owner, secret, backupCodes } = await signUpOwnerWithTotp(app);
    const [early, late] = [await challenged(), await challenged()];
    const { waits, letGo } = holdBack('insert into identity_sessions');
    const entering = complete(late, totp(secret));
    await waits;
    await change(owner);
    letGo();
    expect((await entering).body.code).toBe('wrong_code');
    expect((await complete(early, backupCodes[0] as string)).body.code).toBe('wrong_code');
    expect(await sessions()).toHaveLength(1);
  });

  test('lets no sign-in begin to wait for a code (I-29)', async () => {
    const { owner, secret } = await signUpOwnerWithTotp(app);
    const { waits, letGo } = holdBack('insert into identity_challenges');
    const late = openBrowser(app);
    const entering = signIn(late);
    await waits;
    await change(owner);
    letGo();
    expect((await entering).body.code).toBe('wrong_credentials');
    expect(late.cookies.has('tranche_challenge')).toBe(false);
    expect((await complete(late, totp(secret))).body.code).toBe('wrong_code');
    expect(await app.database.query("select 1 from identity_challenges where value not in ('0')")).toEqual([]);
  });

  test('leaves no session to somebody who changes it at the same time (I-29)', async () => {
    const owner = await signUpOwner(app);
    const thief = openBrowser(app);
    await signIn(thief);
    const { waits, letGo } = holdBack('insert into identity_sessions');
    const body = { current_password: PASSWORD, new_password: 'what the thief would like' };
    const taking = thief.call('POST', '/v1/account/password', { body });
    await waits;
    // Whoever was let in by the same old password at the same time; its new one is written last.
    await app.store.operations.resetPassword({ email: EMAIL }, () => {});
    letGo();
    expect((await taking).body.code).toBe('not_signed_in');
    expect((await thief.call('GET', '/v1/account')).status).toBe(401);
    expect((await owner.call('GET', '/v1/account')).status).toBe(401);
    expect(await sessions()).toEqual([]);
  });
});

test('signing out ends the session that the request was admitted with, whatever its signature says (I-29)', async () => {
  const owner = await signUpOwner(app);
  const cookie = owner.cookies.get('tranche_session') as string;
  const [token] = decodeURIComponent(cookie).split('.');
  for (const forged of [`${token}.wrong`, token as string]) {
    await signIn(owner);
    const held = decodeURIComponent(owner.cookies.get('tranche_session') as string).split('.')[0] as string;
    owner.cookies.set('tranche_session', forged.replace(token as string, held));
    expect((await owner.call('POST', '/v1/account/sign_out')).status).toBe(204);
    const thief = openBrowser(app);
    thief.cookies.set('tranche_session', held);
    expect((await thief.call('GET', '/v1/account')).body.code).toBe('not_signed_in');
  }
});

test('an address that is over its limit adds nothing for the accounts that it tries (I-30)', async () => {
  const tries = ATTEMPTS_PER_ADDRESS + 20;
  for (let i = 0; i < tries; i++) await openBrowser(app).call('POST', '/v1/invitations/lookup', { body: { token: `inv_${i}` } });
  for (let i = 0; i < 10; i++) expect((await signIn(openBrowser(app), PASSWORD, `p${i}@example.com`)).status).toBe(429);
  expect(await app.database.query('select 1 from sign_in_attempts')).toHaveLength(1);
});

describe.each(testDatabases.filter(({ available }) => available).map(({ name }) => name))('signing up at once, on %s', (name) => {
  let own: TestApp;
  beforeEach(async () => {
    own = await openTestApp({ database: name as 'embedded' });
  });
  afterEach(() => own.stop());

  const email = 'ada@example.com';
  const signUp = (body: object) =>
    openBrowser(own).call('POST', '/v1/account/sign_up', { body: { email, name: 'Ada', password: PASSWORD, ...body } });

  test('with one address in several workspaces: one is made, with its own password, and nobody else gets in (I-28)', async () => {
    const owner = await signUpOwner(own);
    const tokens: string[] = [];
    for (let i = 0; i < 4; i++) {
      owner.workspace = (await owner.ok('POST', '/v1/workspaces', { body: { name: `W${i}` } })).id;
      tokens.push(tokenOf((await owner.ok('POST', '/v1/invitations', { body: { email, role: 'viewer' } })).link));
    }
    const passwords = tokens.map((_, i) => `a password of number ${i}`);
    const answers = await Promise.all(tokens.map((invitation_token, i) => signUp({ invitation_token, password: passwords[i] })));
    expect(answers.map(({ status, body }) => [status, body.code]).sort()).toEqual([
      [201, undefined],
      [409, 'email_taken'],
      [409, 'email_taken'],
      [409, 'email_taken'],
    ]);
    const winner = answers.findIndex(({ status }) => status === 201);
    expect(answers[winner]?.body.account.workspaces).toMatchObject([{ name: `W${winner}`, role: 'viewer' }]);
    for (const [i, password] of passwords.entries())
      expect((await openBrowser(own).call('POST', '/v1/account/sign_in', { body: { email, password } })).status).toBe(
        i === winner ? 200 : 401,
      );
    const [counts] = await own.database.query(
      'select (select count(*)::int from identity_users) as people, (select count(*)::int from identity_accounts) as accounts',
    );
    expect(counts).toEqual({ people: 2, accounts: 2 });
  });

  test('whoever is first in its workspace has the address, and the one before it, who comes later, is told so (I-28)', async () => {
    const owner = await signUpOwner(own);
    const invite = async () => tokenOf((await owner.ok('POST', '/v1/invitations', { body: { email, role: 'viewer' } })).link);
    const early = await invite();
    owner.workspace = (await owner.ok('POST', '/v1/workspaces', { body: { name: 'Other' } })).id;
    const late = await invite();
    const { lane } = own.store;
    const submit = lane.submit;
    let letGo = (): void => {};
    const waits = new Promise<void>((reached) => {
      lane.submit = async (command) => {
        lane.submit = submit;
        reached();
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return submit(command);
      };
    });
    const first = signUp({ invitation_token: early, password: 'the password of the first' });
    await waits;
    expect((await signUp({ invitation_token: late, password: 'the password of the second' })).status).toBe(201);
    letGo();
    expect((await first).body.code).toBe('email_taken');
    const signedIn = (password: string) => openBrowser(own).call('POST', '/v1/account/sign_in', { body: { email, password } });
    expect((await signedIn('the password of the first')).status).toBe(401);
    expect((await signedIn('the password of the second')).body.account.workspaces).toMatchObject([{ name: 'Other' }]);
  });

  test('with one invitation: one is made, and the others are told why not', async () => {
    const owner = await signUpOwner(own);
    const invitation_token = tokenOf((await owner.ok('POST', '/v1/invitations', { body: { email, role: 'viewer' } })).link);
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, i) => signUp({ invitation_token, password: `a password of number ${i}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201))
      expect(['invitation_invalid', 'email_taken'], `${status}`).toContain(body.code);
  });
});

test('whoever has signed up is signed in, although that was the last attempt of the address (I-30)', async () => {
  const setup_token = await printSetupToken(app);
  for (let i = 1; i < ATTEMPTS_PER_ADDRESS; i++)
    await openBrowser(app).call('POST', '/v1/invitations/lookup', { body: { token: `inv_${i}` } });
  const browser = openBrowser(app);
  const made = await browser.call('POST', '/v1/account/sign_up', { body: { email: EMAIL, password: PASSWORD, name: 'Ada', setup_token } });
  expect([made.status, made.body.code]).toEqual([201, undefined]);
  expect((await browser.call('GET', '/v1/account')).status).toBe(200);
});
