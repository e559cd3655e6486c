// The table over a list that is longer than any screen: pages come as they are scrolled to, and only what is in sight is in the page.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, type Watched } from './browser.ts';
import { openSettled, settled } from './settled.ts';
import { enter, type Stack, startStack } from './stack.ts';

describe.skipIf(chromiumMissing !== null)(`a table in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
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

  test('without rows it says what to do next, with a line of curl that can be copied', async () => {
    const { page, faults } = await open();
    await openSettled(page, '/projects?client_id=nobody');
    await page.getByText('No project matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).first().click();
    await settled(page);
    await page.getByText('No projects yet').waitFor();
    expect(page.url()).toBe(`${stack.url}/projects`);
    expect(await page.locator('pre').textContent()).toContain(`curl ${stack.url}/v1/projects`);
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('three hundred rows are reached by scrolling while few of them are in the page', async () => {
    for (let at = 0; at < 300; at += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, more) =>
          stack.call('POST', '/v1/projects', { name: `Project ${at + more}`, client_id: `client_${at / 50}` }),
        ),
      );
    }
    const { page, faults } = await open();
    await openSettled(page, '/projects');
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, 4_000);
          return page.getByText('300 in all').count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    expect(await seriousViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('filters stand in the address, and the way back from a row finds them again', async () => {
    const { page } = await open();
    await openSettled(page, '/projects');
    await page.getByLabel('Client', { exact: true }).fill('client_3');
    await page.keyboard.press('Enter');
    await page.getByText('50 in all').waitFor();
    expect(page.url()).toBe(`${stack.url}/projects?client_id=client_3`);
    await page
      .getByRole('link', { name: /^Project / })
      .first()
      .click();
    await expect.poll(() => page.url()).toMatch(/\/projects\/prj_/);
    await page.goBack();
    await page.getByText('50 in all').waitFor();
  });
});
