// The settings in a real browser: what is saved, what is refused, what is recorded, what cannot be taken back, and texts that would be scripts.

import { crc32, deflateSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, type Watched } from './browser.ts';
import { everyPage } from './every-page.ts';
import { openSettled, settled } from './settled.ts';
import { enter, joinAs, type Stack, startStack } from './stack.ts';
import { tellStory } from './story.ts';

/** Each would leave a mark on the page if any part of it were taken for more than text. */
const payloads = [
  `<img src=x onerror="window.__broken=1">`,
  `"><script>window.__broken=1</script>`,
  `<svg/onload=window.__broken=1>`,
  `javascript:window.__broken=1`,
  `{{constructor.constructor('window.__broken=1')()}}`,
] as const;

describe.skipIf(chromiumMissing !== null)(`settings in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  });
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

  test('the profile is saved, the preview follows what is typed, and the audit log says what was changed', async () => {
    const { page, faults } = await open();
    await openSettled(page, '/settings/workspace');
    const preview = page.getByRole('complementary', { name: 'Preview of an invoice' });
    await page.getByLabel('Legal name').fill('Acme Works GmbH');
    await page.getByLabel('Address').fill('Ludwigstraße 12\n80539 München');
    await page.getByLabel('Number prefix').fill('AW7');
    await page.getByText('Ends with a letter or a sign').waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Number prefix').fill('AW-');
    await preview.getByText('AW-000042').waitFor();
    await preview.getByText('80539 München').waitFor();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Ber');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: picture(2000, 500) });
    await page.getByRole('img', { name: 'The logo' }).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved').waitFor();
    expect(await stack.call('GET', '/v1/workspace')).toMatchObject({
      legal_name: 'Acme Works GmbH',
      address_lines: ['Ludwigstraße 12', '80539 München'],
      invoice_prefix: 'AW-',
      timezone: 'Europe/Berlin',
      logo: { content_type: 'image/png', width: 800, height: 200 },
    });
    expect(await seriousViolations(page)).toEqual([]);

    await openSettled(page, '/settings/audit-log?action=workspace.updated');
    await page
      .getByRole('link', { name: /^Settings changed/ })
      .first()
      .click();
    const entry = page.getByRole('dialog');
    const row = entry.getByRole('row', { name: /^Invoice prefix/ });
    expect(await row.getByRole('cell').allTextContents()).toEqual(['INV-', 'AW-']);
    expect(await entry.textContent()).toContain('Ada Lovelace');
    expect(await entry.textContent()).toContain('127.0.0.1');
    expect(await seriousViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a change that somebody else made in between is not overwritten, and the refusal names its request', async () => {
    const { page, expected, faults } = await open();
    await openSettled(page, '/settings/workspace');
    await page.getByLabel('Tax ID').fill('DE1');
    await stack.call('PATCH', '/v1/workspace', { tax_id: 'DE2' });
    expected.push(/\/v1\/workspace$/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('alert')
      .getByText(/Request req_/)
      .waitFor();
    expect((await stack.call('GET', '/v1/workspace')).tax_id).toBe('DE2');
    expect(faults).toEqual([]);
  });

  test('the front page follows what others do, and leads to where it is dealt with', async () => {
    const project = await stack.call('POST', '/v1/projects', {
      name: 'Followed live',
      client_id: 'acme',
      currency: 'EUR',
      milestones: [{ title: 'Prototype', amount: 4200 }],
    });
    const [milestone] = (await stack.call('GET', `/v1/projects/${project.id}/milestones`)).data;
    const { page, faults } = await open();
    await openSettled(page, '/');
    const waiting = page.getByRole('region', { name: 'Awaiting your approval' });
    await waiting.getByText('Nothing is submitted').waitFor();
    await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { status: 'submitted' });
    const entry = waiting.getByRole('link', { name: /Prototype/ });
    await entry.waitFor();
    expect(await entry.getAttribute('href')).toBe(`/projects/${project.id}?open=${milestone.id}`);
    await page
      .getByRole('region', { name: 'Latest events' })
      .getByRole('link', { name: /Milestone submitted.*€42\.00/ })
      .waitFor();
    await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { status: 'approved' });
    await waiting.getByText('Nothing is submitted').waitFor();
    const released = page.getByRole('region', { name: 'Released per month' });
    await released.getByRole('table', { name: 'Released per month in EUR' }).waitFor({ state: 'attached' });
    await released.getByRole('row', { name: /^EUR/ }).getByText('€42.00').waitFor();
    expect(faults).toEqual([]);
  });

  test('texts that would be scripts are texts on every page, whoever wrote them where', async () => {
    const own = await startStack();
    onTestFinished(() => own.stop());
    const [image, script, vector, address, template] = payloads;
    const story = await tellStory(own);
    await own.call('PATCH', '/v1/workspace', {
      name: image,
      legal_name: script,
      address_lines: [vector, address],
      tax_id: `<b onclick=alert(1)>`,
      tax_line: template,
    });
    await joinAs(own, { name: script, role: 'admin' });
    await own.call('POST', '/v1/invitations', { email: 'x@example.com', role: 'viewer' });
    const hostile = await own.call('POST', '/v1/projects', {
      name: image,
      client_id: vector,
      payee_id: script,
      metadata: { [vector]: template },
      milestones: [{ title: script, description: image, amount: 1000, due_date: '2026-01-01' }],
    });
    const [milestone] = (await own.call('GET', `/v1/projects/${hostile.id}/milestones`)).data;
    await own.call('PATCH', `/v1/milestones/${milestone.id}`, { status: 'submitted', submission: { note: vector, links: [] } });
    await own.call('PATCH', `/v1/milestones/${milestone.id}`, { status: 'changes_requested', reason: image });
    await own.call('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/x', description: script });
    await own.call('POST', '/v1/api_keys', { name: vector, scopes: ['projects:read'] });
    const { context, page, faults } = await openPage(browser, own.url);
    onTestFinished(() => context.close());
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await enter(page, own);
    const pages = everyPage({ ...story, projectId: hostile.id }).filter(({ outside }) => outside !== true);
    const paths = [...pages.map(({ path }) => path), `/projects/${hostile.id}?open=${milestone.id}`];
    for (const path of paths) {
      await openSettled(page, path);
      expect([path, await page.evaluate(() => '__broken' in window)]).toEqual([path, false]);
      expect([path, await page.locator('img[src="x"], svg[onload], b[onclick]').count()]).toEqual([path, 0]);
    }
    await openSettled(page, '/settings/people');
    await page.getByText(script).first().waitFor();
    expect(faults).toEqual([]);
  }, 240_000);

  test('a workspace is closed only with its name typed, and can then be read and not changed', async () => {
    const own = await startStack();
    onTestFinished(() => own.stop());
    const { context, page, faults } = await openPage(browser, own.url);
    onTestFinished(() => context.close());
    await own.call('POST', '/v1/projects', { name: 'Stays to be read', client_id: 'acme' });
    await enter(page, own);
    await openSettled(page, '/settings/workspace');
    await page.getByRole('button', { name: 'Close the workspace' }).click();
    const confirm = page.getByRole('button', { name: 'Close for good' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel(/^Type “/).fill('Defaul');
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel(/^Type “/).fill('Default');
    await confirm.click();
    await page.getByText('Default is closed: it can be read').waitFor();
    await settled(page);
    expect(await page.getByLabel('Legal name').isDisabled()).toBe(true);
    await openSettled(page, '/projects');
    await page.getByText('Stays to be read').waitFor();
    expect(await page.getByRole('button', { name: 'New project' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

/** A plain picture as a PNG file. */
function picture(width: number, height: number): Buffer {
  const chunk = (kind: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc32(body), body.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const rows = Buffer.alloc((width + 1) * height, 0x66);
  for (let y = 0; y < height; y++) rows[y * (width + 1)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}
