// Delivers webhooks and nothing else until told to stop: beside any number of servers and of other workers, on one PostgreSQL.
// Serves no API; what it answers is for the operator, on METRICS_PORT.

import { composeWorker } from './compose.ts';
import { type Config, ConfigurationError, webhookNetwork } from './config.ts';
import { letHeapGrow } from './heap.ts';
import { describeAddress, listenForOperators } from './listening.ts';
import { createLog } from './log.ts';
import { openStore } from './open-store.ts';
import { stopOnSignals } from './signals.ts';

/** The supervisor starts another one: a worker that hangs must not stay. */
const EXIT_CODE_HUNG = 70;

export async function work(given: Config, version: string, say: (line?: string) => void): Promise<void> {
  // A worker listens nowhere, so its HOST says nothing of who may register endpoints: without a word it trusts nobody.
  const config = { ...given, WEBHOOK_NETWORK: given.WEBHOOK_NETWORK ?? 'public' } as const;
  if (config.DATABASE_URL === undefined) {
    throw new ConfigurationError(
      'A worker needs PostgreSQL (DATABASE_URL). The embedded database has one process, the one that serves, and that one delivers its webhooks.',
    );
  }
  const log = createLog(config);
  const store = await openStore(config, log);
  const delivery = composeWorker(store, config, version, log, () => {
    log.fatal('the worker hangs: this process ends, for its supervisor to start another');
    process.exit(EXIT_CODE_HUNG);
  });
  const stop = async (): Promise<void> => {
    await delivery.stop();
    await store.lane.close();
    await delivery.close();
    await store.close();
  };
  try {
    const operators = await listenForOperators(delivery.operating, config);
    await delivery.start();
    letHeapGrow();
    say();
    say(`  Tranche ${version} delivers webhooks, and serves no API`);
    say(`  Database   PostgreSQL (DATABASE_URL)`);
    say(`  At once    ${config.WEBHOOK_CONCURRENCY} attempts (WEBHOOK_CONCURRENCY)`);
    say(
      `  Goes to    ${webhookNetwork(config) === 'public' ? 'public addresses only' : 'any address, private ones too'} (WEBHOOK_NETWORK)`,
    );
    say(`  Health     ${operators === null ? 'not told; set METRICS_PORT for /healthz and /metrics' : describeAddress(operators)}`);
    say();
    if (!process.stdout.isTTY) log.info({ database: store.database.kind, metricsPort: operators?.port ?? null }, 'delivering');
  } catch (error) {
    await stop();
    throw error;
  }
  stopOnSignals(stop, log);
}
