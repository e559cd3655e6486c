// The dashboard in a real browser: it loads, keeps to its origin and its policy, and its frame works by keys alone.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, refusedSignedOut, type View, WAIT_MS, type Watched, wide } from './browser.ts';
import { openSettled, settled } from './settled.ts';
import { enter, owner, type Stack, signIn, startStack } from './stack.ts';

describe.skipIf(chromiumMissing !== null)(`the dashboard in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(view: View = wide): Promise<Watched> {
    const watched = await openPage(browser, stack.url, view);
    onTestFinished(() => watched.context.close());
    return watched;
  }

  test('it loads with no error, no request to anywhere else and nothing that its policy refuses', async () => {
    const { page, faults } = await open();
    await enter(page, stack);
    await openSettled(page, '/projects');
    expect(await page.title()).toBe('Projects · Tranche');
    // Dialogs, menus and the palette put styles into the page when they open.
    await page.getByRole('button', { name: /^Workspace:/ }).click();
    await page.getByRole('menuitem', { name: 'New workspace' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
  });

  test('a breach of the policy and a request to elsewhere would be seen', async () => {
    const { page, faults } = await open();
    await enter(page, stack);
    await openSettled(page, '/projects');
    await page.evaluate(() => {
      const style = document.createElement('style');
      style.textContent = 'body { color: red }';
      document.head.append(style);
      return fetch('http://127.0.0.1:9/elsewhere').catch(() => null);
    });
    await expect.poll(() => faults.join('\n'), { timeout: WAIT_MS }).toMatch(/policy: style-src/);
    await expect.poll(() => faults.join('\n'), { timeout: WAIT_MS }).toMatch(/policy: connect-src refused http:\/\/127\.0\.0\.1:9/);
  });

  test('who is not signed in is sent to sign in, and after it to where they wanted', async () => {
    const { page, faults, expected } = await open();
    expected.push(refusedSignedOut);
    await openSettled(page, '/projects?status=active');
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toBe(`${stack.url}/sign-in?next=%2Fprojects%3Fstatus%3Dactive`);
    await page.getByLabel('E-mail').fill(owner.email);
    await page.locator('input[type=password]').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toBe(`${stack.url}/projects?status=active`);
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('a session that ends elsewhere leads to signing in', async () => {
    const { page, expected } = await open();
    expected.push(/./);
    const session = await signIn(stack.url, owner);
    await enter(page, { url: stack.url, session });
    await openSettled(page, '/projects');
    await fetch(`${stack.url}/v1/account/sign_out`, { method: 'POST', headers: { origin: stack.url, cookie: session } });
    const ask = (): Promise<number> => fetch(`${stack.url}/v1/account`, { headers: { cookie: session } }).then(({ status }) => status);
    await expect.poll(ask, { timeout: WAIT_MS }).toBe(401);
    await page.getByLabel('Client', { exact: true }).fill('acme');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toBe(`${stack.url}/sign-in?next=%2Fprojects%3Fclient_id%3Dacme`);
  });

  test('every page of the menu is reached by its keys, and the list of keys names them', async () => {
    const { page, faults } = await open();
    await enter(page, stack);
    await openSettled(page, '/');
    for (const [key, heading] of [
      ['p', 'Projects'],
      ['w', 'Webhooks'],
      ['a', 'Account'],
      ['h', 'Home'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    }
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Go to Projects').waitFor();
    expect(faults).toEqual([]);
  });

  test('the palette goes to pages and, by its id, to a record', async () => {
    const { page } = await open();
    const project = await stack.call('POST', '/v1/projects', { name: 'Found by id', client_id: 'acme' });
    await enter(page, stack);
    await openSettled(page, '/');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByPlaceholder('Search, paste an id').fill(project.id);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toBe(`${stack.url}/projects/${project.id}`);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  test('on a narrow screen nothing is wider than the screen, and the menu opens and closes', async () => {
    const { page, faults } = await open({ width: 380, height: 800, scheme: 'dark' });
    await enter(page, stack);
    await openSettled(page, '/projects');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('link', { name: 'Payments' }).click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await page.getByRole('button', { name: 'Open the menu' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('what another client commits shows without being asked for', async () => {
    const { page } = await open();
    await enter(page, stack);
    await openSettled(page, '/projects');
    const streaming = page.waitForResponse((answer) => answer.url().includes('/v1/events/stream'));
    await page.reload();
    await streaming;
    await settled(page);
    await stack.call('POST', '/v1/projects', { name: 'Just committed', client_id: 'acme' });
    await page.getByText('Just committed').waitFor();
  });
});
