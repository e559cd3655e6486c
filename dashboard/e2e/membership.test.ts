// Coming and going in a workspace, in a real browser: leaving it, making another an owner, taking an invitation back, and a new password.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumMissing, openBrowser, openPage, WAIT_MS, type Watched } from './browser.ts';
import { openSettled } from './settled.ts';
import { emailOf, enter, joinAs, owner, type Stack, signIn, startStack } from './stack.ts';

describe.skipIf(chromiumMissing !== null)(`membership in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(path: string, session = stack.session): Promise<Watched> {
    const watched = await openPage(browser, stack.url);
    onTestFinished(() => watched.context.close());
    await enter(watched.page, { url: stack.url, session });
    await openSettled(watched.page, path);
    return watched;
  }

  /** What the server answers somebody's session. */
  const statusOf = async (session: string, path: string): Promise<number> =>
    (await fetch(`${stack.url}${path}`, { headers: { cookie: session } })).status;

  test('whoever leaves is asked first, has nothing there any more, and is gone from the list of the others', async () => {
    const session = await joinAs(stack, { name: 'Lea Leaver', role: 'admin' });
    const [leaver, stays] = [await open('/settings/people', session), await open('/settings/people')];
    await stays.page.getByText(emailOf('Lea Leaver')).waitFor();
    await leaver.page.getByRole('button', { name: 'Actions for Lea Leaver' }).click();
    await leaver.page.getByRole('menuitem', { name: 'Leave the workspace' }).click();
    const question = leaver.page.getByRole('dialog');
    await question.getByText('until somebody invites you again').waitFor();
    await question.getByRole('button', { name: 'Leave the workspace' }).click();
    await leaver.page
      .getByRole('heading', { name: /workspace/i })
      .first()
      .waitFor();
    expect(await statusOf(session, '/v1/projects')).toBeGreaterThanOrEqual(400);
    await stays.page.getByText(emailOf('Lea Leaver')).waitFor({ state: 'detached' });
    expect(stays.faults).toEqual([]);
  });

  test('an owner makes another one, who may then do what owners alone may', async () => {
    const session = await joinAs(stack, { name: 'Olga Next', role: 'viewer' });
    const [mine, hers] = [await open('/settings/people'), await open('/settings/workspace', session)];
    expect(await hers.page.getByRole('button', { name: 'Close the workspace' }).count()).toBe(0);
    await mine.page.getByRole('button', { name: 'Actions for Olga Next' }).click();
    await mine.page.getByRole('menuitem', { name: 'Make owner' }).click();
    await mine.page.getByRole('dialog').getByText('also remove other owners, you included').waitFor();
    await mine.page.getByRole('dialog').getByRole('button', { name: 'Make owner' }).click();
    await mine.page
      .getByRole('row')
      .filter({ hasText: emailOf('Olga Next') })
      .getByText('Owner')
      .waitFor();
    // Her page offers it without being asked for anew.
    await hers.page.getByRole('button', { name: 'Close the workspace' }).waitFor();
    expect([...mine.faults, ...hers.faults]).toEqual([]);
  });

  test('the link of an invitation that was taken back is worth nothing', async () => {
    const email = 'unwanted@example.com';
    const { link } = await stack.call('POST', '/v1/invitations', { email, role: 'viewer' });
    const { page, faults } = await open('/settings/people');
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: `Revoke the invitation of ${email}` }).waitFor({ state: 'detached' });
    const guest = await openPage(browser, stack.url);
    onTestFinished(() => guest.context.close());
    await guest.page.goto(link);
    await guest.page.getByText(/Request req_/).waitFor();
    expect(await guest.page.getByRole('button', { name: /join/i }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('when another tab signs somebody else in, this one shows nothing more of what the first person read', async () => {
    const session = await joinAs(stack, { name: 'Vic Viewer', role: 'viewer' });
    await stack.call('POST', '/v1/api_keys', { name: 'Seen by Ada alone', scopes: ['projects:read'] });
    const { page, expected } = await open('/developers/api-keys');
    expected.push(/\/v1\//);
    await page.getByText('Seen by Ada alone').waitFor();
    await enter(page, { url: stack.url, session });
    // Something that makes the page ask who it belongs to, as coming to the front again does.
    await joinAs(stack, { name: 'Nora Newer', role: 'viewer' });
    await page.getByText('Seen by Ada alone').waitFor({ state: 'detached' });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit log' }).waitFor({ state: 'detached' });
  });

  test('a new password ends every other session and not this one; only it signs in from then on', async () => {
    await joinAs(stack, { name: 'Pia Secret', role: 'viewer' });
    const person = { email: emailOf('Pia Secret'), password: owner.password };
    const [here, elsewhere] = [await signIn(stack.url, person), await signIn(stack.url, person)];
    const { page, faults } = await open('/settings/account', here);
    const fresh = 'another long passphrase';
    await page.getByLabel('Current password').fill(person.password);
    await page.getByLabel('New password').fill(fresh);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed').waitFor();
    await expect.poll(() => statusOf(elsewhere, '/v1/account'), { timeout: WAIT_MS }).toBe(401);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await expect(signIn(stack.url, person)).rejects.toThrow('401');
    expect(await signIn(stack.url, { ...person, password: fresh })).toContain('=');
    expect(faults).toEqual([]);
  });
});
