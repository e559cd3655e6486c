// `serve --processes`: prepares the database once, starts so many serving processes on one port and watches over them until told to stop.
// Serves no request itself; what it answers is for the operator, on METRICS_PORT.

import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { type Config, ConfigurationError } from './config.ts';
import { greet, type Say } from './greeting.ts';
import { findPort, listenForOperators } from './listening.ts';
import { createLog } from './log.ts';
import { openStore } from './open-store.ts';
import { OperatorError } from './operations/operator-error.ts';
import { createOperatorListener, listenForOperator, type OperatorServer } from './operations/operator-server.ts';
import { createForks } from './processes/cluster-workers.ts';
import { createOverview, type Overview } from './processes/overview.ts';
import { createSupervisor, SupervisionEnded, type Supervisor } from './processes/supervisor.ts';
import { setUp } from './set-up.ts';

/** How many processes a configuration asks for; null where it asks for none, and one process serves without a supervisor. */
export function processCount({ PROCESSES, DATABASE_URL }: Pick<Config, 'PROCESSES' | 'DATABASE_URL'>): number | null {
  if (PROCESSES === undefined) return null;
  const count = PROCESSES === 0 ? availableParallelism() : PROCESSES;
  if (DATABASE_URL !== undefined) return count;
  if (count === 1) return null;
  throw new ConfigurationError(
    `The embedded database has one process, and ${count} are asked for. For several set DATABASE_URL to a PostgreSQL server, with an ENCRYPTION_KEY; or leave --processes and PROCESSES out.`,
  );
}

export async function supervise(given: Config, count: number, version: string, say: Say): Promise<void> {
  const log = createLog(given);
  const config = { ...given, PORT: await findPort(given) };
  // Before anything is started: what is wrong with the database or the key is said once and not by every process.
  const store = await openStore(config, log);
  const forks = createForks({ environment: { PORT: String(config.PORT) }, metricsText: () => overview.metricsText() });
  const supervisor = createSupervisor({ count, fork: forks, log, uptimeMs: () => performance.now() });
  const overview = createOverview(supervisor, count);
  const ending = endOnSignals(supervisor, log);
  let operators: OperatorServer | null = null;
  try {
    operators = await listenForOperators({ listen: () => openOperators(overview, config, log) }, config);
    await supervisor.start();
    if (!ending.isAsked()) {
      greet({ config, version, port: config.PORT, operators, ...(await setUp(store, config)), processes: count }, say);
      if (!process.stdout.isTTY) log.info({ host: config.HOST, port: config.PORT, database: 'postgres', processes: count }, 'serving');
    }
  } catch (error) {
    operators?.close();
    await supervisor.stop();
    throw error instanceof SupervisionEnded ? new OperatorError(error.message) : error;
  } finally {
    await store.close();
  }
  const reason = await Promise.race([supervisor.gaveUp, ending.asked]);
  const inOrder = await supervisor.stop();
  operators?.close();
  if (reason !== null) throw new OperatorError(reason);
  if (inOrder) log.info('stopped');
  else {
    log.error('a process did not stop in good order');
    process.exitCode = 1;
  }
}

interface Ending {
  /** Resolves with null when a signal asks for the end. */
  readonly asked: Promise<null>;
  isAsked(): boolean;
}

function endOnSignals(supervisor: Supervisor, log: Logger): Ending {
  const asked = Promise.withResolvers<null>();
  let isAsked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isAsked) return;
    isAsked = true;
    log.info({ signal }, 'stopping: every process finishes what it accepted');
    asked.resolve(null);
    // At once, for a signal that comes while the processes start.
    void supervisor.stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () => {
    if (!isAsked) void supervisor.roll();
  });
  return { asked: asked.promise, isAsked: () => isAsked };
}

async function openOperators(overview: Overview, config: Config, log: Logger): Promise<OperatorServer | null> {
  if (config.METRICS_PORT === undefined) return null;
  const listener = createOperatorListener({
    metricsText: overview.metricsText,
    metricsToken: config.METRICS_TOKEN,
    // A supervisor that answers is alive, and sees to its processes itself.
    deadReason: () => null,
    health: overview.health,
    onError: (error) => log.error({ err: error }, 'the operator could not be answered'),
  });
  return listenForOperator(listener, config.METRICS_HOST, config.METRICS_PORT);
}
