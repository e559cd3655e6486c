// How the tests run: what is a test, how many at once, how long one may take, and what is said at the end.
// Sets up no databases: server/test/support/global-setup.ts does, and says what it could not find.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SkippedTestsReporter } from './scripts/report-skipped.ts';

const globalSetup = fileURLToPath(new URL('server/test/support/global-setup.ts', import.meta.url));

/** Where to write the results as JSON, for a program to read; nothing is written without it. */
const reportFile = process.env.TEST_REPORT_FILE;

export default defineConfig({
  test: {
    include: ['server', 'dashboard', 'bench', 'demo', 'scripts', 'sdks'].map((directory) => `${directory}/**/*.test.ts`),
    globalSetup: existsSync(globalSetup) ? [globalSetup] : [],
    // A process per file: a test that kills, leaks or fills the heap cannot harm another file.
    pool: 'forks',
    // An embedded database is a few hundred megabytes and one busy core while it starts; more workers than this only wait for each other.
    maxWorkers: Math.max(1, Math.min(4, availableParallelism())),
    // Only what hangs reaches them: tests start processes, databases and browsers, on a machine that others may keep busy, too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    slowTestThreshold: 2_000,
    // A forgotten `.only` would silently skip the rest.
    allowOnly: process.env.CI === undefined,
    reporters: [
      'default',
      ...(reportFile === undefined ? [] : ([['json', { outputFile: reportFile }]] as [['json', { outputFile: string }]])),
      new SkippedTestsReporter(),
    ],
  },
});
