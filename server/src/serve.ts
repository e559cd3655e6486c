// Serves until told to stop: opens the store, sets up what an empty database lacks, listens, and says how to begin.
// Holds no logic of requests; compose.ts wires those.

import { randomFillSync } from 'node:crypto';
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { composeService, createLog, newId, openStore, type Service, type Store } from './compose.ts';
import { type Config, ConfigurationError, isLoopback } from './config.ts';
import { type ApiKey, hashKeySecret, keyHint, makeKeySecret, refuseKey } from './domain/api-key.ts';
import { GENESIS_HASH } from './domain/event.ts';
import type { Uuid } from './domain/ids.ts';
import { hashToken, makeLinkToken } from './domain/link-token.ts';
import { allScopes } from './domain/scopes.ts';
import { describeAddress, listenForOperators } from './listening.ts';
import { controlSocketPath, serveControlSocket } from './operations/control-socket.ts';
import type { OperatorServer } from './operations/operator-server.ts';
import { stopOnSignals } from './signals.ts';
import { hasMembers } from './store/members.ts';
import { addSetupToken } from './store/people.ts';
import { setUpWorkspace } from './store/workspaces.ts';

/** Where the demo looks by itself. */
const DEFAULT_PORT = 8080;

type Say = (line?: string) => void;

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
    const port = await listen(service, config);
    const operators = await listenForOperators(service.operating, config);
    const firstSecret = await setUp(store, config);
    const setupToken = await setUpFirstPerson(store);
    if (config.DATABASE_URL === undefined) control = await openControl(store, config, log);
    await service.start();
    greet({ config, version, port, operators, firstSecret, setupToken }, say);
    // The greeting says it to people already; a line of JSON right under it would only confuse them.
    if (!process.stdout.isTTY) log.info({ host: config.HOST, port, database: store.database.kind }, 'serving');
  } catch (error) {
    await stop(service, control);
    throw error;
  }
  stopOnSignals(() => stop(service, control), log);
}

/** Why the system refused the address, in words of the configuration. */
const addressFaults: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ PORT }) => `Port ${PORT} is in use. Choose another one: PORT=${PORT === 65_535 ? 8080 : PORT + 1} npm start`,
  EACCES: ({ PORT }) => `This user may not listen on port ${PORT}. Choose one above 1023: PORT=8080 npm start`,
  EADDRNOTAVAIL: ({ HOST }) => `HOST ${HOST} is not an address of this machine. 127.0.0.1 is for this machine alone, 0.0.0.0 for all.`,
  ENOTFOUND: ({ HOST }) => `HOST ${HOST} is not known. 127.0.0.1 is for this machine alone, 0.0.0.0 for all.`,
};

/** The port it listens on. */
async function listen(service: Service, config: Config): Promise<number> {
  await service.app.listen({ host: config.HOST, port: config.PORT }).catch((error: NodeJS.ErrnoException) => {
    const explain = addressFaults[error.code ?? ''];
    throw explain === undefined ? error : new ConfigurationError(explain(config));
  });
  const address = service.app.server.address();
  return typeof address === 'object' && address !== null ? address.port : config.PORT;
}

/** Makes the default workspace and the keys where they are missing. Returns the first key's secret when it was made just now. */
async function setUp(store: Store, config: Config): Promise<string | null> {
  const now = new Date();
  const firstSecret = makeKeySecret((bytes) => randomFillSync(bytes));
  const key = (workspaceId: Uuid, name: string, secret: string): ApiKey => ({
    id: newId(),
    workspaceId,
    name,
    hash: hashKeySecret(secret),
    hint: keyHint(secret),
    scopes: allScopes,
    expiresAt: null,
    revokedAt: null,
    createdAt: now,
  });
  const configured = config.TRANCHE_API_KEY;
  const result = await setUpWorkspace(store.database, {
    workspace: { id: newId(), name: 'Default', defaultCurrency: 'USD', createdAt: now },
    genesisHash: GENESIS_HASH,
    firstKey: (workspaceId) => key(workspaceId, 'First key', firstSecret),
    configuredKey: configured === undefined ? null : (workspaceId) => key(workspaceId, 'TRANCHE_API_KEY', configured),
    newId,
  });
  // With its workspace everything ends that was configured for it, and the server goes on for the others.
  if (result.configuredKey !== null && !result.isClosed && refuseKey(result.configuredKey, now) !== null) {
    throw new ConfigurationError('TRANCHE_API_KEY names a key that was revoked or has expired. Set another one; this one stays invalid.');
  }
  return result.madeFirstKey ? firstSecret : null;
}

/**
 * The token with which the first person signs up; null once somebody has. It is made at each start and kept as a hash. With the embedded
 * database one from an earlier start is worth nothing any more; of several processes on PostgreSQL each has its own.
 */
async function setUpFirstPerson({ database }: Store): Promise<string | null> {
  if (await hasMembers(database)) return null;
  const token = makeLinkToken('setup', (bytes) => randomFillSync(bytes));
  await addSetupToken(database, hashToken(token), new Date(), database.kind === 'pglite');
  return token;
}

async function openControl(store: Store, config: Config, log: Logger): Promise<Server | null> {
  const control = await serveControlSocket(controlSocketPath(config.DATA_DIR), store.operations, (error) =>
    log.error({ err: error }, 'control socket'),
  );
  if (control === null) log.warn('the path of DATA_DIR is too long for a control socket: "tranche keys" cannot reach this server');
  return control;
}

interface Greeting {
  readonly config: Config;
  readonly version: string;
  readonly port: number;
  readonly operators: OperatorServer | null;
  readonly firstSecret: string | null;
  readonly setupToken: string | null;
}

function greet({ config, version, port, operators, firstSecret, setupToken }: Greeting, say: Say): void {
  const url = describeAddress({ host: config.HOST, port });
  say();
  say(`  Tranche ${version} serves at ${url}`);
  say(`  Database   ${config.DATABASE_URL === undefined ? `embedded, in ${config.DATA_DIR}` : 'PostgreSQL (DATABASE_URL)'}`);
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

async function stop(service: Service, control: Server | null): Promise<void> {
  control?.close();
  control?.closeAllConnections();
  await service.stop();
}
