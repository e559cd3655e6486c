// `npm run bench:sdk [-- --seconds 1 --rounds 5 --concurrency 16]`: what each client costs beside the barest call of its language.
// Starts one server, runs the program of each language against it in turn and prints a table. A program is given the words above and the variables
// TRANCHE_BASE_URL and TRANCHE_API_KEY; its last line is
//   {"language":"go","measurements":[{"mode":"sync","operation":"retrieve","client_per_second":1,"bare_per_second":1,"ratio":1}, …]}
// where a ratio is the median of those of its rounds, and each round measures both in turn. Judges by `retrieve`, the smallest call: it shows most.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openTestEnvironment } from '../../sdks/testing/environment.ts';
import { findGo, findPython, type Missing, type Toolchain } from '../../sdks/testing/toolchains.ts';

interface Measurement {
  readonly mode: string;
  readonly operation: string;
  readonly client_per_second: number;
  readonly bare_per_second: number;
  readonly ratio: number;
}

interface Contender {
  readonly language: string;
  readonly bare: string;
  /** The least ratio that is good enough. */
  readonly target: number;
  readonly toolchain: Toolchain | Missing;
  readonly directory: string;
  readonly words: readonly string[];
}

const PROGRAM_TIMEOUT_MS = 600_000;

const contenders: readonly Contender[] = [
  { language: 'TypeScript', bare: 'fetch', target: 0.8, toolchain: { path: process.execPath }, directory: '.', words: ['typescript.ts'] },
  { language: 'Go', bare: 'net/http', target: 0.8, toolchain: findGo(), directory: 'go', words: ['run', '.'] },
  { language: 'Python', bare: 'httpx', target: 0.7, toolchain: findPython(), directory: '.', words: ['python.py'] },
];

async function measure({ toolchain, directory, words }: Contender, variables: Readonly<Record<string, string>>): Promise<Measurement[]> {
  if ('missing' in toolchain) throw new Error(toolchain.missing);
  const cwd = fileURLToPath(new URL(`${directory}/`, import.meta.url));
  const env = { ...process.env, ...variables, PYTHONPATH: fileURLToPath(new URL('../../sdks/python/src', import.meta.url)) };
  const child = spawn(toolchain.path, [...words, ...process.argv.slice(2)], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: PROGRAM_TIMEOUT_MS,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`it ended with ${code}`);
  return (JSON.parse(said.trimEnd().split('\n').at(-1) ?? '') as { measurements: Measurement[] }).measurements;
}

const say = (...cells: readonly (string | number)[]): void => {
  const widths = [12, 12, 12, 12, 12, 8, 8];
  process.stdout.write(`${cells.map((cell, column) => String(cell).padEnd(widths[column] ?? 8)).join('')}\n`);
};

const environment = await openTestEnvironment({ RATE_LIMIT_PER_MINUTE: '100000000' });
try {
  say('language', 'mode', 'operation', 'client/s', 'bare/s', 'ratio', 'target');
  for (const contender of contenders) {
    const { language, target, bare } = contender;
    try {
      for (const { mode, operation, client_per_second, bare_per_second, ratio } of await measure(contender, environment.variables)) {
        const isJudged = operation === 'retrieve';
        say(
          language,
          mode,
          operation,
          client_per_second,
          bare_per_second,
          ratio,
          isJudged ? `${ratio >= target ? 'ok' : 'BELOW'} ${target} of ${bare}` : '',
        );
        if (isJudged && ratio < target) process.exitCode = 1;
      }
    } catch (error) {
      say(language, `was not measured: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
} finally {
  await environment.close();
}
