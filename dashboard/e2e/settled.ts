// Opens a page and waits until it is there: its heading shows and nothing is loading.
// Waits for conditions, never for a time.

import type { Page } from 'playwright-core';

export async function openSettled(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settled(page);
}

export async function settled(page: Page): Promise<void> {
  try {
    await page.locator('h1').first().waitFor();
    await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
  } catch (cause) {
    const shown = await page.locator('body').innerText();
    throw new Error(`${page.url()} is not settled and shows ${JSON.stringify(shown)}`, { cause });
  }
}
