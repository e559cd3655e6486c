// A wire that a test can cut at an exact point, or make slow: stands between a client and a PostgreSQL server and looks for COMMIT.
// Understands no more of the protocol than that.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** COMMIT as the message of a simple query: type, length, text. */
const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');

export type Fault =
  /** Both sides are cut and the server never sees COMMIT. */
  | 'before commit'
  /** The client is cut; the server's side stays open, so the server does not know. */
  | 'before commit, unnoticed'
  /** COMMIT is handed to the server and its answer withheld: the client is cut when the answer has come. */
  | 'after commit'
  /** As above, but nobody is cut. */
  | 'answer withheld';

export interface TcpProxy {
  readonly port: number;
  /** What happens to the next COMMIT. Later ones pass. Resolves when it has happened. */
  cutNextCommit(fault: Fault): Promise<void>;
  /** From now on everything that the server says arrives so much later; 0 makes it quick again. */
  delayAnswers(ms: number): void;
  /** Cuts every connection; new ones are accepted. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function openProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let armed: { fault: Fault; happened: () => void } | null = null;

  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };

  const server = createServer((client) => {
    track(client);
    const upstream = track(connect(targetPort, '127.0.0.1'));
    let withholding: { fault: Fault; happened: () => void } | null = null;
    let unnoticed = false;
    client.on('close', () => {
      if (!unnoticed) upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    upstream.on('data', (chunk) => {
      if (withholding === null) {
        // Timers of one length end in the order in which they began, so nothing overtakes.
        if (delayMs === 0) client.write(chunk);
        else setTimeout(() => client.destroyed || client.write(chunk), delayMs);
        return;
      }
      if (withholding.fault === 'after commit') client.destroy();
      withholding.happened();
    });
    client.on('data', (chunk) => {
      if (armed === null || !chunk.includes(COMMIT)) {
        upstream.write(chunk);
        return;
      }
      const fault = armed;
      armed = null;
      if (fault.fault === 'after commit' || fault.fault === 'answer withheld') {
        withholding = fault;
        upstream.write(chunk);
        return;
      }
      unnoticed = fault.fault === 'before commit, unnoticed';
      client.destroy();
      fault.happened();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cutNextCommit: (fault) => new Promise((happened) => (armed = { fault, happened })),
    delayAnswers: (ms) => {
      delayMs = ms;
    },
    cutAll,
    async close() {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
