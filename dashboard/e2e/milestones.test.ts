// What is offered at milestones: readable in every view, and all of them to be reached where there are very many.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, views } from './browser.ts';
import { openSettled } from './settled.ts';
import { enter, type Stack, startStack } from './stack.ts';

describe.skipIf(chromiumMissing !== null)(`milestones in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  test.each(
    views,
  )('the moves of a milestone are readable in the menu, beside the page and in the question ($width px, $scheme)', async (view) => {
    const milestones = [{ title: 'Design', amount: 100 }];
    const project = await stack.call('POST', '/v1/projects', { name: 'Offered', client_id: 'acme', milestones });
    const { page, context, faults } = await openPage(browser, stack.url, view);
    onTestFinished(() => context.close());
    await enter(page, stack);
    await openSettled(page, `/projects/${project.id}`);
    await page.getByRole('button', { name: 'More moves of Design' }).click();
    await page.getByRole('menuitem', { name: 'Cancel milestone' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Design' }).click();
    await page.getByRole('button', { name: 'Cancel milestone' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel milestone' }).click();
    await page.getByRole('dialog', { name: 'Cancel this milestone?' }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(view.width);
    expect(faults).toEqual([]);
  });

  test('more milestones than are shown at once are said to be there, and come when they are asked for', async () => {
    const count = 520;
    const milestones = Array.from({ length: 100 }, (_, n) => ({ title: `Step ${n}`, amount: 1 }));
    const { id } = await stack.call('POST', '/v1/projects', { name: 'Long', client_id: 'acme', milestones });
    const more = Array.from({ length: count - milestones.length }, (_, n) => ({ title: `Later ${n}`, amount: 1 }));
    await Promise.all(more.map((one) => stack.call('POST', `/v1/projects/${id}/milestones`, one)));
    const { page, context, faults } = await openPage(browser, stack.url);
    onTestFinished(() => context.close());
    await enter(page, stack);
    await openSettled(page, `/projects/${id}`);
    const shown = page.getByRole('list', { name: 'Milestones by due date' }).getByRole('listitem');
    expect(await shown.count()).toBe(501);
    await page.getByText('there are earlier ones').waitFor();
    await page.getByRole('button', { name: 'Show 500 more' }).click();
    await page.getByText('there are earlier ones').waitFor({ state: 'detached' });
    expect(await shown.count()).toBe(count);
    expect(faults).toEqual([]);
  });
});
