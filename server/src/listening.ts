// Opening the port for operators, and the refusals of the system in words of the configuration.
// Answers no request.

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

/** Opens METRICS_PORT where it is set. */
export async function listenForOperators(
  operating: Operating,
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
