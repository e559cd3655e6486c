// Webhooks in the dashboard, with a real server and a real receiver: made, tried, failing, mended, paused, changed and deleted.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifyWebhook } from '../../sdks/typescript/src/index.ts';
import { chromiumMissing, openBrowser, openPage, WAIT_MS, type Watched } from './browser.ts';
import { makeDelivery, makeEndpoint } from './deliveries.ts';
import { openSettled, settled } from './settled.ts';
import { enter, type Stack, startStack } from './stack.ts';
import { startToldReceiver, type ToldReceiver } from './told-receiver.ts';

describe.skipIf(chromiumMissing !== null)(`webhooks in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(): Promise<Watched> {
    const watched = await openPage(browser, stack.url);
    onTestFinished(() => watched.context.close());
    await enter(watched.page, stack);
    return watched;
  }
  async function receive(): Promise<ToldReceiver> {
    const receiver = await startToldReceiver();
    onTestFinished(() => receiver.close());
    return receiver;
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  const row = (page: Page, text: string) => page.locator('tbody tr').filter({ hasText: text });

  test('an endpoint is created, tested and diagnosed, and its secret signs and is shown once', async () => {
    const receiver = await receive();
    receiver.answer(200, 'heard');
    const { page, faults } = await open();
    await openSettled(page, '/developers/webhooks?new=1');
    const form = page.getByRole('dialog', { name: 'New webhook endpoint' });
    await form.getByLabel('URL').fill(receiver.url);
    await form.getByLabel('Description').fill('Bookkeeping');
    await form.getByRole('button', { name: /^Signatures, headers/ }).click();
    await form.getByRole('button', { name: 'Add a header' }).click();
    await form.getByLabel('Name of header 1').fill('X-Team');
    await form.getByLabel('Value of header 1').fill('a value that is never shown');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    const shown = page.getByRole('dialog', { name: 'Webhook endpoint created' });
    const secret = (await shown.locator('[data-secret]').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { name: 'Bookkeeping' }).waitFor();
    await button(page, 'Send test').click();
    await page.getByText('Answered 200: acknowledged').waitFor();
    const [sent] = receiver.heard;
    expect(sent?.headers['x-team']).toBe('a value that is never shown');
    expect(verifyWebhook(sent?.body ?? '', sent?.headers ?? {}, secret).event).toBe('project.created');
    expect(await page.locator('[data-block="Request body"]').textContent()).toContain('"project.created"');
    await page.getByRole('tab', { name: 'Diagnose' }).click();
    await button(page, 'Diagnose').click();
    await page.getByText('Healthy').first().waitFor();
    await page.getByText('Answered 200; the answer began').waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByText('X-Team', { exact: false }).first().waitFor();
    const kept = await page.evaluate(() => JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }]));
    expect(kept + (await page.content())).not.toContain(secret);
    expect(await page.content()).not.toContain('a value that is never shown');
    expect(faults).toEqual([]);
  });

  test('an endpoint that said it is gone is shown with why, resumed, and its failed delivery replayed with success', async () => {
    const receiver = await receive();
    receiver.answer(410, 'no such receiver');
    const endpoint = await makeEndpoint(stack, receiver.url, { description: 'Gone' });
    const { id: delivery } = await makeDelivery(stack, endpoint, ({ status }) => status === 'failed');
    const { page, faults } = await open();
    await openSettled(page, '/developers/webhooks');
    await row(page, 'Gone').getByText('Disabled').waitFor();
    await row(page, 'Gone').getByRole('link').click();
    await page.getByText('410', { exact: false }).first().waitFor();
    receiver.answer(200, 'heard');
    await button(page, 'Resume').click();
    await page.getByRole('dialog', { name: 'Resume this endpoint?' }).getByRole('button', { name: 'Resume' }).click();
    await button(page, 'Pause').waitFor();
    await row(page, 'project.created').getByRole('link').click();
    const drawer = page.getByRole('dialog', { name: 'project.created' });
    await drawer.getByText('no such receiver').waitFor();
    const before = receiver.heard.length;
    await drawer.getByRole('button', { name: 'Replay' }).click();
    await drawer.getByText('Succeeded').waitFor();
    await drawer.getByText('Answered 200').waitFor();
    const again = receiver.heard.at(-1);
    expect(receiver.heard).toHaveLength(before + 1);
    expect((await stack.call('GET', `/v1/deliveries/${delivery}`)).status).toBe('succeeded');
    // The body that the page copies is the one that was sent, and what it says of the headers is true.
    await page.evaluate(() => {
      const copied = { text: '' };
      Object.assign(window, { copied });
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text: string) => Object.assign(copied, { text }) } });
    });
    await drawer.getByRole('button', { name: 'Copy request body' }).click();
    await drawer.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => (window as unknown as { copied: { text: string } }).copied.text)).toBe(again?.body);
    const headers = (await drawer.locator('[data-block="Request headers"]').first().textContent()) ?? '';
    for (const name of ['content-type', 'webhook-id', 'webhook-timestamp', 'tranche-seq', 'tranche-attempt']) {
      expect(headers.toLowerCase()).toContain(`${name}: ${String(again?.headers[name]).toLowerCase()}`);
    }
    expect(faults).toEqual([]);
  });

  test('replaying many says first how many, sends nothing until then, and its outcome is in the list', async () => {
    const receiver = await receive();
    receiver.answer(500, 'not now');
    const endpoint = await makeEndpoint(stack, receiver.url);
    for (let count = 0; count < 3; count++) {
      const { id } = await makeDelivery(stack, endpoint, ({ attempts }) => attempts > 0);
      await stack.call('POST', `/v1/deliveries/${id}/cancel`);
    }
    receiver.answer(200);
    const before = receiver.heard.length;
    const { page, faults } = await open();
    await openSettled(page, `/developers/webhooks/${endpoint}?status=cancelled`);
    await button(page, 'Replay many').click();
    const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
    expect(await dialog.getByRole('checkbox', { name: 'Cancelled' }).isChecked()).toBe(true);
    expect(await dialog.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Count first' }).click();
    await dialog.getByText('Nothing has been changed yet').waitFor();
    expect(receiver.heard).toHaveLength(before);
    // Another filter must be counted anew.
    await dialog.getByRole('checkbox', { name: 'Failed' }).check();
    await dialog.getByRole('button', { name: 'Count first' }).click();
    await dialog.getByRole('button', { name: 'Replay 3 deliveries' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await expect.poll(() => receiver.heard.length, { timeout: WAIT_MS }).toBe(before + 3);
    await button(page, 'Clear').click();
    await expect.poll(() => row(page, 'Succeeded').count(), { timeout: WAIT_MS }).toBe(3);
    await openSettled(page, '/developers/webhooks?tab=repairs');
    await row(page, 'Counted').first().waitFor();
    await row(page, 'Completed').first().waitFor();
    expect(faults).toEqual([]);
  });

  test('a paused endpoint is sent nothing, and recovering sends it what it missed, once it was counted', async () => {
    const receiver = await receive();
    const endpoint = await makeEndpoint(stack, receiver.url, { description: 'Paused for a while' });
    const { page, faults } = await open();
    await openSettled(page, `/developers/webhooks/${endpoint}`);
    await button(page, 'Pause').click();
    await page.getByRole('dialog', { name: 'Pause this endpoint?' }).getByRole('button', { name: 'Pause' }).click();
    await button(page, 'Resume').waitFor();
    expect(await button(page, 'Recover').isDisabled()).toBe(true);
    const missed = await stack.call('POST', '/v1/projects', { name: 'Missed', client_id: 'acme' });
    await button(page, 'Resume').click();
    await page.getByRole('dialog', { name: 'Resume this endpoint?' }).getByRole('button', { name: 'Resume' }).click();
    await button(page, 'Recover').click();
    const dialog = page.getByRole('dialog', { name: 'Recover missed events' });
    await dialog.getByLabel('Events since').fill('2020-01-01T00:00');
    await dialog.getByLabel('Project id').fill(missed.id);
    await dialog.getByRole('button', { name: 'Count first' }).click();
    await dialog.getByRole('button', { name: 'Recover 1 event' }).waitFor();
    expect(receiver.heard).toHaveLength(0);
    await dialog.getByRole('button', { name: 'Recover 1 event' }).click();
    await expect.poll(() => receiver.heard.map(({ body }) => JSON.parse(body).data.name), { timeout: WAIT_MS }).toEqual(['Missed']);
    await row(page, 'Succeeded').waitFor();
    expect(faults).toEqual([]);
  });

  test('an edit changes what was edited, and a deleted endpoint is gone from the list', async () => {
    const receiver = await receive();
    const endpoint = await makeEndpoint(stack, receiver.url, { description: 'Before', headers: { 'X-Kept': 'a', 'X-Gone': 'b' } });
    const { page, faults, expected } = await open();
    expected.push(new RegExp(`/v1/webhook_endpoints/${endpoint}$`));
    await openSettled(page, `/developers/webhooks/${endpoint}?tab=settings`);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const form = page.getByRole('dialog', { name: 'Edit webhook endpoint' });
    await form.getByLabel('Description').fill('After');
    await form.getByRole('checkbox', { name: /^payment\.released/ }).check();
    await form.getByRole('button', { name: /^Signatures, headers/ }).click();
    await form.getByRole('button', { name: 'Remove X-Gone' }).click();
    await form.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'After' }).waitFor();
    const changed = await stack.call('GET', `/v1/webhook_endpoints/${endpoint}`);
    expect(changed).toMatchObject({ description: 'After', header_names: ['X-Kept'], url: receiver.url, max_concurrency: 16 });
    expect([...changed.event_types].sort()).toEqual(['payment.released', 'project.created']);
    await button(page, 'More').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete this endpoint?' }).getByRole('button', { name: 'Delete endpoint' }).click();
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toBe(`${stack.url}/developers/webhooks`);
    await settled(page);
    expect(await row(page, receiver.url).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
