// Asks axe about the page as it stands, through the browser's own protocol, so that the page's policy need not let it in.
// Reports what is serious or critical, with the elements.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function seriousViolations(page: Page): Promise<readonly string[]> {
  // What is still fading in has other colours than it will have.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ playState, effect }) => playState !== 'running' || effect?.getTiming().iterations === Number.POSITIVE_INFINITY),
  );
  await page.evaluate(source);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { readonly axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, impact, help, nodes }) => ({
      id,
      impact,
      help,
      html: nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary ?? ''}`),
    }));
  });
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, html }) => `${id}: ${help}\n  ${html.join('\n  ')}`);
}
