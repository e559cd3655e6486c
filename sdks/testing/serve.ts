// Runs a command with a server, a fault proxy and a receiver of webhooks around it: `node sdks/testing/serve.ts -- <command…>`.
// Ends as the command ends. What is started is told through environment variables only.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openTestEnvironment } from './environment.ts';

const separator = process.argv.indexOf('--');
const [command, ...words] = separator === -1 ? [] : process.argv.slice(separator + 1);
if (command === undefined) {
  process.stderr.write('Usage: node sdks/testing/serve.ts -- <command…>\n');
  process.exit(2);
}

const environment = await openTestEnvironment();
const child = spawn(command, words, { stdio: 'inherit', env: { ...process.env, ...environment.variables } });
// The command gets an interruption by itself; this process stays until it has ended, so that nothing is left running.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
try {
  const [code] = (await once(child, 'close')) as [number | null];
  process.exitCode = code ?? 1;
} catch (error) {
  process.stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 127;
} finally {
  await environment.close();
}
