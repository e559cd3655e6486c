// Every page, light and dark, wide and narrow: nothing serious for axe, no error, nothing that the policy refuses, no request to elsewhere, and
// nothing wider than the screen. With TRANCHE_SCREENSHOTS set to a folder, a picture of each is written there.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousViolations } from './accessibility.ts';
import { chromiumMissing, openBrowser, openPage, type View, views } from './browser.ts';
import { everyPage, type PageAddress } from './every-page.ts';
import { openSettled } from './settled.ts';
import { enter, type Stack, startStack } from './stack.ts';
import { type Story, tellStory } from './story.ts';

const folder = process.env.TRANCHE_SCREENSHOTS;
if (folder !== undefined) mkdirSync(folder, { recursive: true });

/** All pages of one view, on a machine that others use as well. */
const VIEW_TIMEOUT_MS = 300_000;

describe.skipIf(chromiumMissing !== null)(`every page in a browser (${chromiumMissing ?? 'Chromium'})`, () => {
  let stack: Stack;
  let story: Story;
  let browser: Browser;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), openBrowser()]);
    story = await tellStory(stack);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** What is wrong with a page in one view. */
  async function lookAt({ name, path, outside = false }: PageAddress, view: View): Promise<readonly string[]> {
    const { context, page, faults, expected } = await openPage(browser, stack.url, view);
    try {
      if (outside) expected.push(/\/v1\/account$/);
      else await enter(page, stack);
      await openSettled(page, path);
      const found = [...(await seriousViolations(page))];
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > view.width) found.push(`is ${width} wide`);
      if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${view.width}-${view.scheme}.png`), fullPage: true });
      return [...faults, ...found].map((what) => `${name}: ${what}`);
    } finally {
      await context.close();
    }
  }

  for (const view of views) {
    test(`no page has a fault where it is ${view.width} wide and ${view.scheme}`, { timeout: VIEW_TIMEOUT_MS }, async () => {
      const found: string[] = [];
      for (const address of everyPage(story)) found.push(...(await lookAt(address, view)));
      expect(found).toEqual([]);
    });
  }

  test('text that cannot be read would be found', async () => {
    const { context, page } = await openPage(browser, stack.url);
    try {
      await enter(page, stack);
      await openSettled(page, '/');
      await page.evaluate(() => {
        (document.querySelector('h1') as HTMLElement).style.color = '#eeeeee';
      });
      expect((await seriousViolations(page)).join('\n')).toContain('color-contrast');
    } finally {
      await context.close();
    }
  });
});
