// A real browser for tests and for looking: Debian's Chromium without a window, and pages that remember everything that went wrong in them.
// Installs nothing; says what is missing.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = process.env.CHROMIUM ?? places.find((path) => existsSync(path));

/** Why tests that need a browser are left out; null where they run, and where TRANCHE_REQUIRE_BROWSER makes absence a failure. */
export const chromiumMissing: string | null =
  program !== undefined || process.env.TRANCHE_REQUIRE_BROWSER !== undefined ? null : 'needs Chromium; Debian: apt-get install chromium';

const LAUNCH_TIMEOUT_MS = 60_000;
/** For each wait of a test: far beyond what a page takes, even on a busy machine. */
export const WAIT_MS = 20_000;

export async function openBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error('Chromium is not installed (Debian: apt-get install chromium).');
  // Tests may run as root in a container, where Chromium's own sandbox cannot be made. It only ever opens pages of the server under test.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: LAUNCH_TIMEOUT_MS });
}

/** What a page that was signed out may be refused before it knows of that: who it is, and the events it follows. */
export const refusedSignedOut = /\/v1\/(account|events\/stream)$/;

export interface View {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
}

export const wide: View = { width: 1280, height: 900, scheme: 'light' };

/** Every way in which each page is looked at. */
export const views: readonly View[] = [
  wide,
  { ...wide, scheme: 'dark' },
  { width: 380, height: 800, scheme: 'light' },
  { width: 380, height: 800, scheme: 'dark' },
];

export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong so far: errors of the console and of scripts, breaches of the policy, requests that left the origin. */
  readonly faults: string[];
  /** Answers that the browser reports as errors although the test means them: `expected.push(/\/v1\/account$/)`. */
  readonly expected: RegExp[];
}

/** A page with a profile of its own, which may speak only to `origin`. */
export async function openPage(browser: Browser, origin: string, view: View = wide): Promise<Watched> {
  const { width, height, scheme } = view;
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const expected: RegExp[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const { url } = message.location();
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (!isAnswer || !expected.some((one) => one.test(url))) faults.push(`console: ${message.text()} (${url})`);
  });
  page.on('pageerror', (error) => faults.push(`script: ${error.stack ?? error.message}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== new URL(origin).origin && url.protocol !== 'data:' && url.protocol !== 'blob:')
      faults.push(`left the origin: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) =>
      console.error(`policy: ${violatedDirective} refused ${blockedURI} in ${sourceFile}`),
    );
  });
  return { context, page, faults, expected };
}
