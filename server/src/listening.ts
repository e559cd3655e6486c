// Opening the ports, and the refusals of the system in words of the configuration.
// Answers no request.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Config, ConfigurationError } from './config.ts';
import type { Operating } from './operations/operating.ts';
import type { OperatorServer } from './operations/operator-server.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export function describeAddress({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Why the system refused the address, in words of the configuration. */
const addressFaults: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ PORT }) => `Port ${PORT} is in use. Choose another one: PORT=${PORT === 65_535 ? 8080 : PORT + 1} npm start`,
  EACCES: ({ PORT }) => `This user may not listen on port ${PORT}. Choose one above 1023: PORT=8080 npm start`,
  EADDRNOTAVAIL: ({ HOST }) => `HOST ${HOST} is not an address of this machine. 127.0.0.1 is for this machine alone, 0.0.0.0 for all.`,
  ENOTFOUND: ({ HOST }) => `HOST ${HOST} is not known. 127.0.0.1 is for this machine alone, 0.0.0.0 for all.`,
};

function explainAddress(error: NodeJS.ErrnoException, config: Config): never {
  const explain = addressFaults[error.code ?? ''];
  throw explain === undefined ? error : new ConfigurationError(explain(config));
}

function portOf(server: Server, config: Config): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : config.PORT;
}

/** Opens HOST and PORT for the API. The port it listens on. */
export async function listenForRequests(app: FastifyInstance, config: Config): Promise<number> {
  await app.listen({ host: config.HOST, port: config.PORT }).catch((error) => explainAddress(error, config));
  return portOf(app.server, config);
}

/**
 * The port that others are about to open: found where 0 asks for any, and proved to be free. It is free again when this returns, since only
 * those that serve may hold it.
 */
export async function findPort(config: Config): Promise<number> {
  const trial = createServer().listen(config.PORT, config.HOST);
  await once(trial, 'listening').catch((error) => explainAddress(error, config));
  const { port } = trial.address() as AddressInfo;
  trial.close();
  await once(trial, 'close');
  return port;
}

/** Opens METRICS_PORT where it is set. */
export async function listenForOperators(
  operating: Pick<Operating, 'listen'>,
  { METRICS_HOST: host, METRICS_PORT: port }: Config,
): Promise<OperatorServer | null> {
  return operating.listen().catch((error: NodeJS.ErrnoException) => {
    const faults: Record<string, string> = {
      EADDRINUSE: `METRICS_PORT ${port} is in use. Choose another one; each process needs its own.`,
      EACCES: `This user may not listen on METRICS_PORT ${port}. Choose one above 1023.`,
      EADDRNOTAVAIL: `METRICS_HOST ${host} is not an address of this machine.`,
      ENOTFOUND: `METRICS_HOST ${host} is not known.`,
    };
    const fault = faults[error.code ?? ''];
    throw fault === undefined ? error : new ConfigurationError(fault);
  });
}
