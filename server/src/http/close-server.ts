// How the HTTP server ends: what has arrived is answered, and a client decides neither when we stop nor, where there is time, that it fails.
// Closes connections only; what the requests do ends elsewhere.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface Patience {
  /** How long idle connections are left open for their clients to ask once more and be told that it was the last time. */
  readonly idleMs: number;
  /** How long requests that have begun to arrive are waited for. */
  readonly requestsMs: number;
  /** Closes the connections that have never sent anything; from `watchSilence`. */
  readonly closeSilent: () => void;
  /** Ends the patience. */
  readonly hurry: AbortSignal;
}

/**
 * Clients open connections ahead of need. For Node one that has sent nothing yet is not idle but busy, and would be waited for. Called
 * before the server listens; the function that is returned closes such connections.
 */
export function watchSilence(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** How long a stop waits for requests that have begun to arrive. With what follows it stays below the 10 s that container platforms allow. */
const REQUESTS_TIMEOUT_MS = 5_000;

/** Answers what has arrived. A client that has not sent the rest in time is cut off, or it would decide when we stop. */
export async function closeServer(app: FastifyInstance, lane: { close(): Promise<void> }, patience?: Patience): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  const cutAfter = (ms: number): void => {
    // After the lane: what it has accepted is answered, and not cut.
    timers.push(setTimeout(() => void lane.close().then(() => setImmediate(() => app.server.closeAllConnections())), ms));
  };
  if (patience === undefined) cutAfter(REQUESTS_TIMEOUT_MS);
  else {
    const closeKept = keepIdleConnections(app.server);
    const closeIdle = (): void => {
      closeKept();
      patience.closeSilent();
    };
    timers.push(setTimeout(closeIdle, patience.idleMs));
    cutAfter(patience.requestsMs);
    patience.hurry.addEventListener('abort', () => {
      closeIdle();
      cutAfter(REQUESTS_TIMEOUT_MS);
    });
  }
  await app.close().finally(() => {
    for (const timer of timers) clearTimeout(timer);
  });
}

/**
 * A server that is closed cuts its idle connections at once, and with them the request that a client is sending at that very moment. From
 * here on it does not; the function that is returned does it.
 */
function keepIdleConnections(server: Server): () => void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => undefined;
  return closeIdle;
}
