// People in the dashboard, in a real browser: the first one, one who is invited and may only look, the second factor, and sessions that end.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, refusedSignedOut, WAIT_MS, type Watched } from './browser.ts';
import { openSettled, settled } from './settled.ts';
import { emailOf, enter, joinAs, owner, type Stack, signIn, startFreshStack, startStack } from './stack.ts';
import { totpCode } from './totp.ts';

describe.skipIf(chromiumMissing !== null)(`people in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack({ WORKSPACE_CREATION: 'anyone' }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(origin = stack.url): Promise<Watched> {
    const watched = await openPage(browser, origin);
    onTestFinished(() => watched.context.close());
    return watched;
  }

  /** A call with somebody's cookie, as a page of ours would send it. */
  const callAs = (session: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${stack.url}${path}`, {
      method,
      headers: { cookie: session, origin: stack.url, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  async function signInOn(page: Watched['page'], email: string): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.locator('input[type=password]').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('the printed link makes the first owner, whom three steps to the first payment await, and makes no second', async () => {
    const fresh = await startFreshStack();
    onTestFinished(() => fresh.stop());
    const link = /http:\S+\/sign-up#setup_token=\S+/.exec(fresh.stdout())?.[0] as string;
    const { page, faults, expected } = await open(fresh.url);
    expected.push(/\/v1\/account$/);
    await openSettled(page, '/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('Nobody has signed up yet').waitFor();
    await page.goto(link);
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.getByLabel('E-mail').fill(owner.email);
    await page.locator('input[type=password]').fill(owner.password);
    expect(await page.getByLabel('Setup token').count()).toBe(0);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Create a project with a milestone' }).waitFor();
    expect(page.url()).toBe(`${fresh.url}/`);
    const lines = await page.locator('pre').allTextContents();
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toContain(`curl ${fresh.url}/v1/`);
    expect(await seriousViolations(page)).toEqual([]);
    expect(faults).toEqual([]);

    const second = await open(fresh.url);
    second.expected.push(/\/v1\/account/);
    await second.page.goto(link);
    await second.page.getByLabel('Name').fill('Mallory');
    await second.page.getByLabel('E-mail').fill('mallory@example.com');
    await second.page.locator('input[type=password]').fill(owner.password);
    await second.page.getByRole('button', { name: 'Create account' }).click();
    await second.page.getByRole('alert').getByText('Sign up refused').waitFor();
    expect(await second.page.getByRole('alert').textContent()).toMatch(/Request req_/);
  });

  test('whoever is invited as a viewer joins by the link, sees what there is, is offered no change, and is refused every one', async () => {
    const project = await stack.call('POST', '/v1/projects', {
      name: 'Seen by viewers',
      client_id: 'acme',
      release: 'manual',
      milestones: [{ title: 'Design', amount: 1000 }],
    });
    const { page, faults } = await open();
    await enter(page, stack);
    await openSettled(page, '/settings/people');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByLabel('E-mail').fill('vera@example.com');
    await page.getByRole('radio', { name: 'Viewer' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByLabel('Link').inputValue();
    expect(link).toMatch(new RegExp(`^${stack.url}/accept-invitation#token=inv_`));
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('vera@example.com').waitFor();

    const viewer = await open();
    viewer.expected.push(/\/v1\/account$/);
    await openSettled(viewer.page, link);
    await viewer.page.getByText('Ada Lovelace invites you').waitFor();
    await viewer.page.getByLabel('Name').fill('Vera Viewer');
    await viewer.page.locator('input[type=password]').fill(owner.password);
    await viewer.page.getByRole('button', { name: 'Create account and join' }).click();
    await viewer.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await settled(viewer.page);
    const menu = viewer.page.getByRole('navigation', { name: 'Main' });
    for (const entry of ['Projects', 'Payments', 'Invoices', 'People', 'Account']) await menu.getByRole('link', { name: entry }).waitFor();
    for (const entry of ['API keys', 'Requests', 'Audit log']) expect(await menu.getByRole('link', { name: entry }).count()).toBe(0);

    await openSettled(viewer.page, '/settings/people');
    await viewer.page.getByText('ada@example.com').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
    expect(await viewer.page.getByRole('button', { name: 'Actions for Ada Lovelace' }).count()).toBe(0);
    await openSettled(viewer.page, '/settings/workspace');
    expect(await viewer.page.getByLabel('Legal name').isDisabled()).toBe(true);
    expect(await viewer.page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await viewer.page.getByRole('button', { name: 'Close the workspace' }).count()).toBe(0);
    await openSettled(viewer.page, `/projects/${project.id}`);
    for (const verb of ['Submit', 'Approve', 'Cancel', 'Edit', 'Archive'])
      expect(await viewer.page.getByRole('button', { name: new RegExp(`^${verb}`) }).count()).toBe(0);
    expect(viewer.faults).toEqual([]);

    const [cookie] = await viewer.context.cookies();
    const session = `${cookie?.name}=${cookie?.value}`;
    const refused: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '/v1/projects', { name: 'Mine', client_id: 'acme' }],
      ['POST', `/v1/projects/${project.id}/milestones`, { title: 'More', amount: 1 }],
      ['POST', '/v1/api_keys', { name: 'mine' }],
      ['GET', '/v1/api_keys'],
      ['POST', '/v1/webhook_endpoints', { url: 'https://example.com/hook' }],
      ['PATCH', '/v1/workspace', { name: 'Mine' }],
      ['POST', '/v1/invitations', { email: 'friend@example.com', role: 'admin' }],
      ['POST', '/v1/workspace/close', { name: 'Default' }],
      ['GET', '/v1/audit_entries'],
      ['GET', '/v1/request_log_entries'],
    ];
    for (const [method, path, body] of refused)
      expect([method, path, (await callAs(session, method, path, body)).status]).toEqual([method, path, 403]);
    for (const path of ['/v1/projects', '/v1/payments', '/v1/members', '/v1/workspace', '/v1/overview'])
      expect([path, (await callAs(session, 'GET', path)).status]).toEqual([path, 200]);
    viewer.expected.push(/\/v1\//);
    await viewer.page.goto('/settings/audit-log');
    await viewer.page
      .getByRole('alert')
      .getByText(/Request req_/)
      .waitFor();
    expect(faults).toEqual([]);
  });

  test('a role that is changed counts at once, in the page of whom it is given to and at the server', async () => {
    const session = await joinAs(stack, { name: 'Robin Role', role: 'viewer' });
    expect((await callAs(session, 'GET', '/v1/audit_entries')).status).toBe(403);
    const { page, faults } = await open();
    await enter(page, stack);
    await openSettled(page, '/settings/people');
    await page.getByRole('button', { name: 'Actions for Robin Role' }).click();
    await page.getByRole('menuitem', { name: 'Change role' }).click();
    await page.getByRole('radio', { name: 'Finance' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const ask = (): Promise<number> => callAs(session, 'GET', '/v1/audit_entries').then(({ status }) => status);
    await expect.poll(ask, { timeout: WAIT_MS }).toBe(200);
    const robin = await open();
    await enter(robin.page, { url: stack.url, session });
    await openSettled(robin.page, '/settings/audit-log');
    await robin.page
      .getByRole('link', { name: /^Role changed/ })
      .first()
      .click();
    await robin.page.getByRole('dialog').getByRole('cell', { name: 'finance' }).waitFor();
    expect(await robin.page.getByRole('dialog').textContent()).toContain('Ada Lovelace');

    robin.expected.push(/\/v1\//);
    await page.getByRole('button', { name: 'Actions for Robin Role' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText(emailOf('Robin Role'), { exact: true }).waitFor({ state: 'hidden' });
    // Whoever is in no workspace can mean none.
    await expect.poll(ask, { timeout: WAIT_MS }).toBe(400);
    await robin.page.reload();
    await robin.page.getByRole('heading', { name: 'You are in no workspace' }).waitFor();
    expect([...faults, ...robin.faults]).toEqual([]);
  });

  test('with the second factor on, signing in asks for a code, and a backup code is one', async () => {
    const session = await joinAs(stack, { name: 'Tess Totp', role: 'viewer' });
    const { page, faults, expected } = await open();
    await enter(page, { url: stack.url, session });
    await openSettled(page, '/settings/account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=password]').fill(owner.password);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByRole('img', { name: /QR code/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    const secret = (await page.getByTestId('totp-secret').textContent()) ?? '';
    await dialog.getByRole('textbox', { name: 'Code' }).fill(totpCode(secret));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByRole('list', { name: 'Backup codes' }).waitFor();
    const codes = await dialog.getByRole('list', { name: 'Backup codes' }).getByRole('listitem').allTextContents();
    expect(codes.length).toBeGreaterThan(4);
    await dialog.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    expect(faults).toEqual([]);

    expected.push(refusedSignedOut, /\/v1\/account\/sign_in/);
    for (const code of [totpCode(secret, 1), codes[0] as string]) {
      await page.getByRole('button', { name: 'Your account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await signInOn(page, emailOf('Tess Totp'));
      await page.getByLabel(/^Code of your authenticator/).fill('000000');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByLabel(/^Code of your authenticator/).fill(code);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    }
    await openSettled(page, '/settings/account');
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('a session that is ended in another browser sends this one to sign in', async () => {
    const here = await joinAs(stack, { name: 'Sam Session', role: 'developer' });
    const there = await signIn(stack.url, { ...owner, email: emailOf('Sam Session') });
    const one = await open();
    const other = await open();
    await enter(one.page, { url: stack.url, session: here });
    await enter(other.page, { url: stack.url, session: there });
    await openSettled(one.page, '/projects');
    await openSettled(other.page, '/settings/account');
    one.expected.push(/\/v1\//);
    await other.page.getByRole('button', { name: /^End the session of/ }).click();
    await other.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await other.page.getByText('The session has ended').waitFor();
    const ask = (): Promise<number> => callAs(here, 'GET', '/v1/account').then(({ status }) => status);
    await expect.poll(ask, { timeout: WAIT_MS }).toBe(401);
    await one.page.getByRole('link', { name: 'Payments' }).click();
    await one.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(one.page.url()).toContain('/sign-in');
    await openSettled(other.page, '/projects');
    expect([...one.faults, ...other.faults]).toEqual([]);
  });

  test('somebody with an account signs in to accept, and switches between workspaces of which each keeps its own', async () => {
    const session = await joinAs(stack, { name: 'Wanda Works', role: 'developer' });
    const { page, faults } = await open();
    await enter(page, { url: stack.url, session });
    await openSettled(page, '/settings/people');
    await page.getByRole('button', { name: /^Workspace:/ }).click();
    await page.getByRole('menuitem', { name: 'New workspace' }).click();
    await page.getByLabel('Name of the workspace').fill('Wanda’s own');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByText('Nothing has happened in Wanda’s own yet').waitFor();
    await openSettled(page, '/settings/people');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('dialog').getByLabel('E-mail').fill(owner.email);
    await page.getByRole('radio', { name: 'Finance' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByLabel('Link').inputValue();

    const ada = await open();
    ada.expected.push(/\/v1\/account$/);
    await openSettled(ada.page, link);
    await ada.page.getByRole('button', { name: 'Sign in to accept' }).click();
    await ada.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(ada.page.url()).search).not.toContain('inv_');
    await signInOn(ada.page, owner.email);
    await ada.page.getByRole('button', { name: 'Join Wanda’s own' }).click();
    await ada.page.getByText('Nothing has happened in Wanda’s own yet').waitFor();
    await ada.page.getByRole('button', { name: /^Workspace:/ }).click();
    await ada.page.getByRole('menuitem', { name: /Owner/ }).click();
    await ada.page.getByRole('button', { name: 'Workspace: Default' }).waitFor();
    expect([...faults, ...ada.faults]).toEqual([]);
  });
});
