// A wire between a server and its database: an address that leads to a port, and later to another one, as a floating address does.
// Understands nothing of what it carries.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Wire {
  readonly port: number;
  /** From now on connections lead there, and those that are open are cut. */
  lead(targetPort: number): void;
}

/** Goes with the test. */
export async function openWire(firstPort: number, host = '127.0.0.1'): Promise<Wire> {
  const sockets = new Set<Socket>();
  let targetPort = firstPort;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }).listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      targetPort = port;
      cut();
    },
  };
}
