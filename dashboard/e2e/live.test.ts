// Two browsers that look at the same: what one changes the other shows, whether or not an event tells of it.

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumMissing, openBrowser, openPage, type Watched } from './browser.ts';
import { openSettled } from './settled.ts';
import { enter, joinAs, type Stack, startStack } from './stack.ts';

/** What a person would call at once or nearly so; news is gathered for three seconds at most. */
const SOON_MS = 8_000;

describe.skipIf(chromiumMissing !== null)(`changes as they happen (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** A browser of somebody's own at a page, once the stream is open. */
  async function at(path: string, session = stack.session): Promise<Watched> {
    const watched = await openPage(browser, stack.url);
    onTestFinished(() => watched.context.close());
    await enter(watched.page, { url: stack.url, session });
    const streaming = watched.page.waitForResponse((answer) => answer.url().includes('/v1/events/stream'));
    await openSettled(watched.page, path);
    await streaming;
    return watched;
  }

  const row = (page: Page, title: string): Locator => page.getByRole('listitem').filter({ hasText: title });

  test('a start, a withdrawal and an edit of one person show with the other, without a reload', async () => {
    const project = await stack.call('POST', '/v1/projects', {
      name: 'Shared',
      client_id: 'acme',
      currency: 'EUR',
      milestones: [{ title: 'Design', amount: 120_000 }],
    });
    const colleague = await joinAs(stack, { name: 'Lin Live', role: 'admin' });
    const [one, other] = [await at(`/projects/${project.id}`), await at(`/projects/${project.id}`, colleague)];
    await other.page.evaluate(() => Object.assign(window, { isSame: true }));

    await row(one.page, 'Design').getByRole('button', { name: 'More moves of Design' }).click();
    await one.page.getByRole('menuitem', { name: 'Start' }).click();
    await row(other.page, 'Design').getByText('In progress').waitFor({ timeout: SOON_MS });

    await one.page.getByRole('button', { name: 'Edit', exact: true }).click();
    const editing = one.page.getByRole('dialog', { name: 'Edit project' });
    await editing.getByLabel('Name').fill('Shared and renamed');
    await editing.getByRole('button', { name: 'Save' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Shared and renamed' }).waitFor({ timeout: SOON_MS });

    const [milestone] = (await stack.call('GET', `/v1/projects/${project.id}/milestones`)).data;
    for (const status of ['submitted', 'in_progress']) await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { status });
    for (const { page } of [one, other]) await row(page, 'Design').getByRole('button', { name: 'Submit' }).waitFor({ timeout: SOON_MS });
    await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { title: 'Design, again' });
    for (const { page } of [one, other]) await row(page, 'Design, again').waitFor({ timeout: SOON_MS });

    expect(await other.page.evaluate(() => 'isSame' in window)).toBe(true);
    expect([...one.faults, ...other.faults]).toEqual([]);
  });

  test('a new API key, a role and the name of the workspace show with others', async () => {
    const keys = await at('/developers/api-keys');
    await stack.call('POST', '/v1/api_keys', { name: 'Just made', scopes: ['projects:read'] });
    await keys.page.getByText('Just made').waitFor({ timeout: SOON_MS });
    const people = await at('/settings/people');
    await joinAs(stack, { name: 'Nina New', role: 'viewer' });
    await people.page.getByText('nina.new@example.com').waitFor({ timeout: SOON_MS });
    await stack.call('PATCH', '/v1/workspace', { name: 'Renamed Studio' });
    await people.page.getByText('Renamed Studio').first().waitFor({ timeout: SOON_MS });
  });
});
