// Serves until told to stop: opens the store, sets up what an empty database lacks, listens, and says how to begin.
// Holds no logic of requests; compose.ts wires those.

import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { composeService, type Service } from './compose.ts';
import { type Config, ConfigurationError } from './config.ts';
import { greet, type Say } from './greeting.ts';
import { letHeapGrow } from './heap.ts';
import { listenForOperators, listenForRequests } from './listening.ts';
import { createLog } from './log.ts';
import { openStore, type Store } from './open-store.ts';
import { controlSocketPath, serveControlSocket } from './operations/control-socket.ts';
import { setUp } from './set-up.ts';
import { stopOnSignals } from './signals.ts';

export async function serve(config: Config, version: string, say: Say): Promise<void> {
  if (config.DATABASE_URL === undefined && !config.WEBHOOK_WORKER) {
    throw new ConfigurationError(
      'With the embedded database the process that serves also delivers, since there can be no other. WEBHOOK_WORKER=off and --no-worker need PostgreSQL.',
    );
  }
  const log = createLog(config);
  const store = await openStore(config, log);
  const service = composeService(store, config, version, log);
  let control: Server | null = null;
  try {
    // First of all: were the port taken after the first key was made, that key would be lost, since it is shown only once.
    const port = await listenForRequests(service.app, config);
    const operators = await listenForOperators(service.operating, config);
    const made = await setUp(store, config);
    if (config.DATABASE_URL === undefined) control = await openControl(store, config, log);
    await service.start();
    letHeapGrow();
    greet({ config, version, port, operators, ...made, processes: null }, say);
    // The greeting says it to people already; a line of JSON right under it would only confuse them.
    if (!process.stdout.isTTY) log.info({ host: config.HOST, port, database: store.database.kind }, 'serving');
  } catch (error) {
    await stop(service, control);
    throw error;
  }
  stopOnSignals(() => stop(service, control), log);
}

async function openControl(store: Store, config: Config, log: Logger): Promise<Server | null> {
  const control = await serveControlSocket(controlSocketPath(config.DATA_DIR), store.operations, (error) =>
    log.error({ err: error }, 'control socket'),
  );
  if (control === null) log.warn('the path of DATA_DIR is too long for a control socket: "tranche keys" cannot reach this server');
  return control;
}

async function stop(service: Service, control: Server | null): Promise<void> {
  control?.close();
  control?.closeAllConnections();
  await service.stop();
}
