// `npm test`: the tests of the service and of the TypeScript client, then the suites of the Python and the Go client where their toolchains are.
// With arguments it runs only vitest, with them. What it leaves out it names, with the reason; with TRANCHE_REQUIRE_CLIENTS that is a failure.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findGo, findPythonWithVenv } from '../sdks/testing/toolchains.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const isRequired = process.env.TRANCHE_REQUIRE_CLIENTS !== undefined;

/** Far beyond what any suite takes, even on a busy machine. */
const SUITE_TIMEOUT_MS = 30 * 60_000;

interface Outcome {
  readonly code: number;
  readonly lastLine: string;
}

async function run(command: string, parameters: readonly string[]): Promise<Outcome> {
  const child = spawn(command, parameters, { cwd: root, stdio: ['inherit', 'pipe', 'inherit'], timeout: SUITE_TIMEOUT_MS });
  let tail = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-1_000);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? 1, lastLine: tail.trimEnd().split('\n').at(-1) ?? '' };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const summary: string[] = [];
let passed = 0;
let failed = 0;

/** Each suite of a client says at its end "N passed, N failed". */
async function runClient(name: string, directory: string, missing: string | null): Promise<void> {
  if (missing !== null) {
    summary.push(`${name} client: ${isRequired ? 'FAILED' : 'SKIPPED'}, its suite did not run: ${missing}`);
    if (isRequired) failed += 1;
    return;
  }
  say(`\n== The ${name} client (${directory}/run-tests)`);
  const { code, lastLine } = await run(`${root}${directory}/run-tests`, []);
  const counts = /(\d+) passed, (\d+) failed/.exec(lastLine);
  const failures = Math.max(Number(counts?.[2] ?? 1), code === 0 ? 0 : 1);
  passed += Number(counts?.[1] ?? 0);
  failed += failures;
  summary.push(`${name} client: ${counts?.[1] ?? 0} passed, ${failures} failed`);
}

const missingOf = (found: { readonly path: string } | { readonly missing: string }): string | null =>
  'missing' in found ? found.missing : null;

if (words.length > 0) {
  process.exitCode = (await run('vitest', ['run', ...words])).code;
} else {
  // The clients first: what they prepare, the tests of the samples use.
  await runClient('Python', 'sdks/python', missingOf(findPythonWithVenv()));
  await runClient('Go', 'sdks/go', missingOf(findGo()));
  const { code } = await run('vitest', ['run']);
  say(`\nService and TypeScript client: ${code === 0 ? 'passed' : 'FAILED'}, as above`);
  for (const line of summary) say(line);
  const reportFile = process.env.TEST_REPORT_FILE;
  if (reportFile !== undefined) writeFileSync(`${reportFile}.clients`, `${passed} ${failed}\n`);
  process.exitCode = code === 0 && failed === 0 ? 0 : 1;
}
