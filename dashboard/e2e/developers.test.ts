// What developers do in the dashboard, on a real server with a real receiver: keys that are shown once and work, logs, and that nothing foreign becomes part of a page.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, type View, WAIT_MS, type Watched, wide } from './browser.ts';
import { makeDelivery, makeEndpoint } from './deliveries.ts';
import { openSettled, settled } from './settled.ts';
import { enter, type Stack, startStack } from './stack.ts';
import { startToldReceiver, type ToldReceiver } from './told-receiver.ts';

const shell = promisify(execFile);
const CURL_TIMEOUT_MS = 20_000;
/** Would run, or load a picture, where it became part of a page; the policy's refusal of either is a fault as well. */
const XSS = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

describe.skipIf(chromiumMissing !== null)(`what developers do in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(view: View = wide, session = stack.session): Promise<Watched> {
    const watched = await openPage(browser, stack.url, view);
    onTestFinished(() => watched.context.close());
    await enter(watched.page, { url: stack.url, session });
    return watched;
  }
  async function receive(): Promise<ToldReceiver> {
    const receiver = await startToldReceiver();
    onTestFinished(() => receiver.close());
    return receiver;
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });

  test('a key is made with what it may do, works with the line of curl that is shown, and is never shown again', async () => {
    const { page, faults } = await open();
    const answers: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/v1/'))
        void answer.text().then(
          (text) => answers.push(text),
          () => undefined,
        );
    });
    await openSettled(page, '/developers/api-keys');
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByLabel('Name').fill('Reader of projects');
    await form.getByRole('button', { name: 'Read only' }).click();
    expect(await form.getByRole('checkbox', { name: 'Release payments' }).isChecked()).toBe(false);
    await form.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'API key created' });
    const secret = (await shown.locator('[data-secret]').textContent()) ?? '';
    expect(secret.length).toBeGreaterThan(30);
    const command = (await shown.locator('[data-block="Try it"]').textContent()) ?? '';
    expect(command).toContain(secret);
    const { stdout } = await shell('sh', ['-c', `${command} -s -w ' %{http_code}'`], { timeout: CURL_TIMEOUT_MS });
    expect(stdout).toMatch(/"object":"list".* 200$/s);
    // A click beside it or Escape does not lose it.
    await page.keyboard.press('Escape');
    await shown.getByRole('button', { name: 'Copy secret' }).click();
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await shown.waitFor({ state: 'hidden' });
    await row(page, 'Reader of projects').getByRole('link').click();
    await page.getByRole('dialog', { name: 'Reader of projects' }).getByText('payments:read').waitFor();
    await page.reload();
    await settled(page);
    await page.getByRole('dialog', { name: 'Reader of projects' }).getByText('payments:read').waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept + (await page.content())).not.toContain(secret);
    expect(answers.filter((text) => text.includes(secret))).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('a rotated key works beside its successor, and a revoked one is refused', async () => {
    const { page, faults } = await open();
    const key = await stack.call('POST', '/v1/api_keys', { name: 'To be rotated', scopes: ['projects:read'] });
    const ask = async (secret: string): Promise<number> =>
      (await fetch(`${stack.url}/v1/projects`, { headers: { authorization: `Bearer ${secret}` } })).status;
    await openSettled(page, `/developers/api-keys?open=${key.id}`);
    await button(page, 'Rotate').click();
    await page.getByRole('dialog', { name: 'Rotate this key?' }).getByRole('button', { name: 'Rotate' }).click();
    const shown = page.getByRole('dialog', { name: 'API key rotated' });
    const secret = (await shown.locator('[data-secret]').textContent()) ?? '';
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    expect([await ask(key.secret), await ask(secret)]).toEqual([200, 200]);
    await button(page, 'Revoke').click();
    const question = page.getByRole('dialog', { name: 'Revoke this key?' });
    await question.getByText('This cannot be taken back').waitFor();
    await question.getByRole('button', { name: 'Revoke key' }).click();
    await expect.poll(() => ask(key.secret), { timeout: WAIT_MS }).toBe(401);
    expect(await ask(secret)).toBe(200);
    expect(faults).toEqual([]);
  });

  test('the event log is live at its top, and is filtered and read backwards', async () => {
    const { page, faults } = await open();
    await stack.call('POST', '/v1/projects', { name: 'Before the page', client_id: 'acme' });
    await openSettled(page, '/developers/events');
    await row(page, 'Before the page').waitFor();
    await stack.call('POST', '/v1/projects', { name: 'While it is open', client_id: 'acme' });
    await page.locator('tbody tr').first().filter({ hasText: 'While it is open' }).waitFor();
    await row(page, 'While it is open').getByRole('link').click();
    const drawer = page.getByRole('dialog', { name: 'project.created' });
    expect(await drawer.locator('[data-block="Payload"]').textContent()).toContain('"name": "While it is open"');
    await page.keyboard.press('Escape');
    await page.getByLabel('Up to number').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('1 in all').waitFor();
    await openSettled(page, '/developers/events?event_type=project.created');
    await row(page, 'While it is open').waitFor();
    expect(await page.locator('tbody tr').filter({ hasNotText: 'project.created' }).count()).toBe(0);
    await openSettled(page, '/developers/events?event_type=project.archived');
    await page.getByText('No event matches').waitFor();
    expect(faults).toEqual([]);
  });

  test('requests of a key are found by its filters, and its usage is shown against the limit', async () => {
    const key = await stack.call('POST', '/v1/api_keys', { name: 'Busy', scopes: ['projects:read'] });
    const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' };
    await fetch(`${stack.url}/v1/projects`, { method: 'POST', headers, body: '{}' });
    const path = `/v1/request_log_entries?api_key_id=${key.id}`;
    await expect.poll(async () => (await stack.call('GET', path)).data.length, { timeout: WAIT_MS }).toBe(1);
    const { page, faults } = await open();
    await openSettled(page, `/developers/requests?api_key_id=${key.id}&status_class=4xx`);
    await row(page, 'POST /v1/projects').getByRole('link').click();
    await page.getByRole('dialog', { name: 'Request' }).getByText(/^req_/).waitFor();
    // The minute may turn between a request and the look at it, and what is shown is then nothing: it is asked and looked at again.
    for (let tries = 1, shown = false; !shown; tries++) {
      await fetch(`${stack.url}/v1/projects`, { headers });
      await openSettled(page, '/developers/usage');
      const bar = page.getByRole('region', { name: 'Busy' }).getByRole('progressbar', { name: 'This minute' });
      shown = await bar.waitFor({ timeout: tries < 3 ? 5_000 : WAIT_MS }).then(
        () => true,
        (error: unknown) => (tries < 3 ? false : Promise.reject(error)),
      );
    }
    expect(faults).toEqual([]);
  });

  test('names, descriptions, addresses and answers of receivers are text, whatever they contain', async () => {
    const receiver = await receive();
    receiver.answer(410, `<h1>${XSS}</h1>`, { 'x-answer': XSS, 'content-type': 'text/html' });
    const key = await stack.call('POST', '/v1/api_keys', { name: XSS, scopes: ['projects:read'] });
    // Addresses hold no spaces.
    const endpoint = await makeEndpoint(stack, `${receiver.url}?"><svg/onload=window.hacked=1>`, {
      description: XSS,
      event_types: ['project.created'],
    });
    const delivery = await makeDelivery(stack, endpoint, ({ status }) => status === 'failed', { name: XSS, client_id: XSS });
    const { page, faults } = await open();
    for (const [address, seen] of [
      [`/developers/api-keys?open=${key.id}`, XSS],
      ['/developers/webhooks', XSS],
      [`/developers/webhooks/${endpoint}?tab=settings`, XSS],
      [`/developers/webhooks/${endpoint}?tab=settings`, '<svg/onload=window.hacked=1>'],
      [`/developers/webhooks/${endpoint}?open=${delivery.id}`, `x-answer: ${XSS}`],
      [`/developers/webhooks/${endpoint}?open=${delivery.id}`, `<h1>${XSS}</h1>`],
      [`/developers/events?open=${delivery.event_id}`, XSS],
      ['/developers/events', XSS],
      ['/developers/usage', 'Each key may send'],
    ] as const) {
      await openSettled(page, address);
      await page.getByText(seen).first().waitFor();
      expect(await page.locator('img, h1 h1, [onerror], [onload]').count()).toBe(0);
    }
    for (const tab of ['test', 'diagnose'] as const) {
      await openSettled(page, `/developers/webhooks/${endpoint}?tab=${tab}`);
      await button(page, tab === 'test' ? 'Send test' : 'Diagnose').click();
      await page.locator('[data-block="Response body"]').getByText(XSS).waitFor();
    }
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(faults).toEqual([]);
  });

  test('a viewer reads webhooks and events and is offered nothing else', async () => {
    const receiver = await receive();
    const endpoint = await makeEndpoint(stack, receiver.url, { description: 'Seen by viewers' });
    const session = await viewerSession(stack);
    const { page, faults, expected } = await open(wide, session);
    await openSettled(page, '/developers/webhooks?new=1');
    await row(page, 'Seen by viewers').waitFor();
    expect(await button(page, 'New endpoint').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await row(page, 'Seen by viewers').getByRole('link').click();
    await page.getByRole('heading', { name: 'Seen by viewers' }).waitFor();
    await settled(page);
    for (const name of ['Pause', 'More', 'Replay many', 'Recover', 'Cancel many']) expect(await button(page, name).count()).toBe(0);
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Deliveries', 'Settings']);
    const menu = page.getByRole('navigation', { name: 'Main' });
    expect(await menu.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    expect(await menu.getByRole('link', { name: 'Requests' }).count()).toBe(0);
    expect(faults).toEqual([]);
    // By its address as well: the server refuses, and the page says so with the request.
    expected.push(/\/v1\/api_keys/);
    await openSettled(page, '/developers/api-keys?new=1');
    await page.getByText('Insufficient scope').waitFor();
    await page.getByText(/^req_/).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    const refused = await fetch(`${stack.url}/v1/webhook_endpoints/${endpoint}/test`, {
      method: 'POST',
      headers: { cookie: session, origin: stack.url },
    });
    expect(refused.status).toBe(403);
    expect(faults).toEqual([]);
  });

  for (const view of [
    { ...wide, scheme: 'dark' },
    { width: 380, height: 800, scheme: 'light' },
  ] as const) {
    test(`dialogs and what opens beside lists are accessible and fit (${view.width} px, ${view.scheme})`, async () => {
      const receiver = await receive();
      receiver.answer(500, '{"why":"later"}');
      const endpoint = await makeEndpoint(stack, receiver.url, { signature_schemes: ['v1', 'v1a'] });
      const { id: delivery } = await makeDelivery(stack, endpoint, ({ attempts }) => attempts > 0);
      const { page, faults } = await open(view);
      for (const address of [
        '/developers/api-keys?new=1',
        '/developers/webhooks?new=1',
        '/developers/webhooks?tab=deliveries',
        `/developers/webhooks/${endpoint}?open=${delivery}`,
        `/developers/webhooks/${endpoint}?tab=settings`,
        `/developers/webhooks/${endpoint}?tab=test`,
      ]) {
        await openSettled(page, address);
        expect(await seriousViolations(page), address).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBe(view.width);
      }
      expect(faults).toEqual([]);
    });
  }
});

/** Somebody who was invited as a viewer. */
async function viewerSession(stack: Stack): Promise<string> {
  const email = 'vera@example.com';
  const { link } = await stack.call('POST', '/v1/invitations', { email, role: 'viewer' });
  const invitation_token = /[#?&][a-z_]*token=([^&]+)/.exec(link)?.[1];
  const answer = await fetch(`${stack.url}/v1/account/sign_up`, {
    method: 'POST',
    headers: { origin: stack.url, 'content-type': 'application/json' },
    body: JSON.stringify({ email, name: 'Vera', password: 'another long passphrase', invitation_token }),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0];
  if (cookie === undefined) throw new Error(`The viewer was not signed up: ${answer.status} ${await answer.text()}`);
  return cookie;
}
