// People: signing up and in, members, invitations, sessions and the second factor, through the routes on the embedded database.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { type Browser, openBrowser, PASSWORD, printSetupToken, signUpMember, signUpOwner, tokenOf, totp } from './support/people.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openTestApp();
});
afterEach(() => app.stop());

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.call('POST', '/v1/account/sign_in', { body: { email, password } });

describe('the first person', () => {
  test('owns the default workspace and is signed in', async () => {
    const browser = openBrowser(app);
    expect(await browser.ok('GET', '/v1/account/setup')).toEqual({ object: 'setup', needs_setup: true });
    const setup_token = await printSetupToken(app);
    const body = { email: 'Ada@Example.com', password: PASSWORD, name: 'Ada', setup_token };
    const made = await browser.call('POST', '/v1/account/sign_up', { body });
    expect(made.status, made.text).toBe(201);
    expect(made.body.account).toMatchObject({ email: 'ada@example.com', name: 'Ada', workspaces: [{ role: 'owner' }] });
    expect(await browser.ok('GET', '/v1/account')).toEqual(made.body.account);
    expect((await browser.ok('GET', '/v1/projects')).data).toEqual([]);
    expect(await browser.ok('GET', '/v1/account/setup')).toEqual({ object: 'setup', needs_setup: false });
  });
});
