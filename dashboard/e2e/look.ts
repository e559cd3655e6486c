// `node dashboard/e2e/look.ts <directory> [page …]`: pictures of every page, or of those named, light and dark, wide and narrow, with some data;
// and at the end what went wrong in them and what axe finds. For eyes; the tests are beside it.

import { mkdirSync } from 'node:fs';
import { seriousViolations } from './accessibility.ts';
import { openBrowser, openPage, views } from './browser.ts';
import { everyPage } from './every-page.ts';
import { openSettled } from './settled.ts';
import { enter, startStack } from './stack.ts';
import { tellStory } from './story.ts';

const [directory = 'screenshots', ...wanted] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });

const stack = await startStack();
const browser = await openBrowser();
try {
  const pages = everyPage(await tellStory(stack)).filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  for (const view of views) {
    for (const { name, path, outside = false } of pages) {
      const { context, page, faults, expected } = await openPage(browser, stack.url, view);
      if (outside) expected.push(/\/v1\/account$/);
      else await enter(page, stack);
      const found: string[] = [];
      try {
        await openSettled(page, path);
        found.push(...(await seriousViolations(page)));
      } catch (error) {
        found.push(String(error));
      }
      await page.screenshot({ path: `${directory}/${name}-${view.width}-${view.scheme}.png`, fullPage: true });
      for (const fault of [...faults, ...found]) console.log(`${name} ${view.width} ${view.scheme}: ${fault}`);
      await context.close();
    }
  }
} finally {
  await browser.close();
  await stack.stop();
}
