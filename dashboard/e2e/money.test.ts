// Payments and invoices as people look at them, in a real browser: filters, sums, the release of what waits, files that are whole, and an invoice
// that prints as nothing but itself.

import { readFileSync } from 'node:fs';
import type { Browser, Download, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, type View, WAIT_MS, type Watched, wide } from './browser.ts';
import { openSettled } from './settled.ts';
import { enter, joinAs, type Stack, startStack } from './stack.ts';

describe.skipIf(chromiumMissing !== null)(`payments and invoices in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  async function open(session = stack.session, view: View = wide): Promise<Watched> {
    const watched = await openPage(browser, stack.url, view);
    onTestFinished(() => watched.context.close());
    await enter(watched.page, { url: stack.url, session });
    return watched;
  }

  /** Approved milestones of a client of their own, in these amounts of minor units. */
  async function prepare(client_id: string, release: string, amounts: readonly (readonly [number, string])[]): Promise<string> {
    const project = await stack.call('POST', '/v1/projects', { name: `For ${client_id}`, client_id, payee_id: 'ada', release });
    for (const [amount, currency] of amounts) {
      const milestone = await stack.call('POST', `/v1/projects/${project.id}/milestones`, { title: 'Design', amount, currency });
      for (const status of ['submitted', 'approved']) await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { status });
    }
    return project.id;
  }

  const rows = (page: Page, label: string): Locator => page.getByRole('table', { name: label }).locator('tbody tr');

  async function downloaded(page: Page, name: string): Promise<Download> {
    const [file] = await Promise.all([page.waitForEvent('download', { timeout: WAIT_MS }), page.getByRole('button', { name }).click()]);
    return file;
  }

  test('a pending payment is released after a question that names amount, currency and payee; sums and invoice follow', async () => {
    await prepare('released_by_hand', 'manual', [[250_000, 'EUR']]);
    const { page, faults } = await open();
    await openSettled(page, '/payments?client_id=released_by_hand&status=pending');
    const sums = page.getByRole('list', { name: 'Payments by currency' });
    await sums.getByText('€2,500.00').waitFor();
    await rows(page, 'Payments').getByRole('link').click();
    const drawer = page.getByRole('dialog', { name: 'Payment' });
    await drawer.getByRole('button', { name: 'Release payment' }).click();
    const asking = page.getByRole('dialog', { name: 'Release this payment?' });
    await asking.getByText('€2,500.00 is released to ada now.').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await asking.getByRole('button', { name: 'Release €2,500.00' }).dblclick();
    await asking.waitFor({ state: 'hidden' });
    await drawer.getByText('Released', { exact: true }).first().waitFor();
    expect(await drawer.getByRole('button', { name: 'Release payment' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByText('No payment matches').waitFor();
    await openSettled(page, '/invoices?client_id=released_by_hand&payment_status=paid');
    expect(await rows(page, 'Invoices').count()).toBe(1);
    const { data } = await stack.call('GET', '/v1/events?limit=100');
    expect(
      data.filter(
        (event: { type: string; data: { amount: number } }) => event.type === 'payment.released' && event.data.amount === 250_000,
      ),
    ).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('who may not release is offered no release', async () => {
    await prepare('for_viewers', 'manual', [[100, 'EUR']]);
    const { page } = await open(await joinAs(stack, { name: 'Victor Viewer', role: 'viewer' }));
    await openSettled(page, '/payments?client_id=for_viewers');
    await rows(page, 'Payments').getByRole('link').click();
    await page.getByRole('dialog', { name: 'Payment' }).getByText('For for_viewers').waitFor();
    expect(await page.getByRole('button', { name: 'Release payment' }).count()).toBe(0);
  });

  test('filters stand in the address, sums are of what is filtered and never of two currencies, and the export has the same rows', async () => {
    await prepare('many_currencies', 'on_approval', [
      [100_000, 'EUR'],
      [50_000, 'EUR'],
      [1_500, 'JPY'],
      [12_345, 'KWD'],
    ]);
    await prepare('somebody_else', 'on_approval', [[777_700, 'EUR']]);
    const { page, faults } = await open();
    await openSettled(page, '/payments');
    await page.getByLabel('Client').fill('many_currencies');
    await page.keyboard.press('Enter');
    await page.getByText('4 in all').waitFor();
    expect(page.url()).toBe(`${stack.url}/payments?client_id=many_currencies`);
    const sums = page.getByRole('list', { name: 'Payments by currency' }).getByRole('listitem');
    expect(await sums.count()).toBe(3);
    await sums.filter({ hasText: 'EUR' }).getByText('€1,500.00').waitFor();
    await sums.filter({ hasText: 'JPY' }).getByText('¥1,500').waitFor();
    await sums.filter({ hasText: 'KWD' }).getByText('12.345').waitFor();
    const file = await downloaded(page, 'Export CSV');
    expect(file.suggestedFilename()).toMatch(/^payments-.*\.csv$/);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines).toHaveLength(5);
    expect(lines.slice(1).every((line) => line.includes('many_currencies'))).toBe(true);
    await page.getByRole('combobox', { name: 'Project' }).fill('For somebody');
    await page.getByRole('option', { name: 'For somebody_else · somebody_else' }).click();
    await page.getByText('No payment matches').waitFor();
    await page.getByLabel('Client').fill('');
    await page.keyboard.press('Enter');
    await page.getByText('1 in all').waitFor();
    await sums.getByText('€7,777.00').waitFor();
    expect(await page.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('For somebody_else');
    await page.getByLabel('Created until').fill('2020-01-01');
    await page.getByText('No payment matches').waitFor();
    await page.goBack();
    expect(faults).toEqual([]);
  });

  test('an export that is refused says why, and leaves no file', async () => {
    const { page, expected } = await open();
    expected.push(/export/);
    await openSettled(page, '/payments');
    await page.route('**/v1/payments/export*', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'content-type': 'application/problem+json', 'request-id': 'req_0123' },
        body: JSON.stringify({ code: 'too_many_exports', detail: 'Two exports are under way.' }),
      }),
    );
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const notice = page.getByRole('dialog', { name: 'Nothing was exported' });
    await notice.getByText('Two exports are under way.').waitFor();
    await notice.getByText('req_0123').waitFor();
    expect(await page.getByRole('button', { name: 'Export CSV' }).isEnabled()).toBe(true);
  });

  test('an invoice prints as nothing but its sheet, and its PDF is the one of the server', async () => {
    await stack.call('PATCH', '/v1/workspace', {
      legal_name: 'Northlight GmbH',
      address_lines: ['Street 1', '10115 Berlin'],
      tax_line: 'No VAT.',
    });
    await prepare('printed', 'on_approval', [[123_456, 'EUR']]);
    const { page, faults } = await open();
    await openSettled(page, '/invoices?client_id=printed');
    await rows(page, 'Invoices').getByRole('link').click();
    const sheet = page.getByRole('article');
    for (const text of ['Northlight GmbH', '10115 Berlin', 'printed', 'Design', '€1,234.56', 'No VAT.'])
      await sheet.getByText(text, { exact: true }).first().waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await sheet.isVisible()).toBe(true);
    for (const name of ['Print', 'Download PDF', 'Your account']) expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect((await sheet.boundingBox())?.x).toBe(0);
    await page.emulateMedia({ media: 'screen' });
    const file = await downloaded(page, 'Download PDF');
    expect(file.suggestedFilename()).toMatch(/\.pdf$/);
    expect(
      readFileSync(await file.path())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    // What is changed later is on later invoices alone.
    await stack.call('PATCH', '/v1/workspace', { legal_name: 'Southdark GmbH', tax_line: null });
    await page.reload();
    for (const text of ['Northlight GmbH', 'No VAT.']) await sheet.getByText(text, { exact: true }).waitFor();
    expect(await sheet.getByText('Southdark GmbH').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('on a narrow screen nothing is wider than the screen, light and dark, and axe finds nothing serious', async () => {
    await prepare('narrow', 'manual', [[123_456, 'EUR']]);
    const [invoice] = (await stack.call('GET', '/v1/invoices?client_id=narrow')).data;
    const [payment] = (await stack.call('GET', '/v1/payments?client_id=narrow')).data;
    for (const scheme of ['light', 'dark'] as const) {
      const { page, faults } = await open(stack.session, { width: 380, height: 800, scheme });
      for (const path of ['/payments', `/payments?open=${payment.id}`, '/invoices', `/invoices/${invoice.id}`]) {
        await openSettled(page, path);
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(380);
        expect(await seriousViolations(page), path).toEqual([]);
      }
      expect(faults).toEqual([]);
    }
  }, 180_000);
});
