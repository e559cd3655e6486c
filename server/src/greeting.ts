// What a person reads when the service has started: where it is, what it uses, and how to begin.
// Prints; decides and opens nothing.

import { type Config, isLoopback } from './config.ts';
import { type Address, describeAddress } from './listening.ts';

/** Where the demo looks by itself. */
const DEFAULT_PORT = 8080;

export type Say = (line?: string) => void;

export interface Greeting {
  readonly config: Config;
  readonly version: string;
  readonly port: number;
  readonly operators: Address | null;
  /** Null unless it was made just now. */
  readonly firstSecret: string | null;
  /** Null once somebody has signed up. */
  readonly setupToken: string | null;
  /** Null where one process does it all, without a supervisor. */
  readonly processes: number | null;
}

export function greet({ config, version, port, operators, firstSecret, setupToken, processes }: Greeting, say: Say): void {
  const url = describeAddress({ host: config.HOST, port });
  say();
  say(`  Tranche ${version} serves at ${url}`);
  say(`  Database   ${config.DATABASE_URL === undefined ? `embedded, in ${config.DATA_DIR}` : 'PostgreSQL (DATABASE_URL)'}`);
  if (processes !== null) say(`  Processes  ${processes}, restarted one after the other on SIGHUP`);
  if (!config.WEBHOOK_WORKER) say('  Webhooks   delivered by workers only: tranche worker');
  if (operators !== null) say(`  Metrics    ${describeAddress(operators)}/metrics`);
  else if (config.METRICS_TOKEN !== undefined) say(`  Metrics    ${url}/metrics, with METRICS_TOKEN`);
  if (setupToken !== null) {
    say('  Sign up    here; the first person to do so owns the workspace:');
    say(`    ${config.PUBLIC_URL ?? url}/sign-up#setup_token=${setupToken}`);
  }
  say(`  Reference  ${url}/docs`);
  if (firstSecret !== null) {
    say();
    say('  Your first API key. It is shown this once; keep it:');
    say();
    say(`    ${firstSecret}`);
    say();
    say('  Try it:');
    say();
    say(`    curl ${url}/v1/projects \\`);
    // Four columns of indent and not six, or the key would reach past the eightieth.
    say(`    -H "Authorization: Bearer ${firstSecret}" \\`);
    say('    -H "Content-Type: application/json" \\');
    say(`    -d '{"name":"Website","client_id":"acme"}'`);
    say();
    say(`  The whole story, as a program:  npm run demo${port === DEFAULT_PORT ? '' : ` -- --url ${url}`}`);
  } else if (config.TRANCHE_API_KEY === undefined) say('  Keys       npm run tranche -- keys create --name mine');
  if (!isLoopback(config.HOST)) say('  Others can reach this address: put TLS in front of it.');
  say();
}
