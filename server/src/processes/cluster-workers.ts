// Forks workers with node:cluster: the supervisor's process holds the port and hands each connection to one worker in turn.
// Carries messages to and fro; decides nothing about who lives.

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Report } from '../operations/operating.ts';
import type { FromWorker, ToWorker } from './messages.ts';
import type { Ended, WorkerProcess } from './worker-process.ts';

/** How long a worker may take to tell how it is; one that is busy answers within milliseconds. */
const REPORT_TIMEOUT_MS = 3_000;

export interface ForkOptions {
  /** Set in the worker's environment, over our own. */
  readonly environment: Readonly<Record<string, string>>;
  /** Everything that is counted, for a worker whose main port was asked. */
  readonly metricsText: () => Promise<string>;
}

/** Makes the function that forks. Once for each process: node:cluster has one set of settings. */
export function createForks({ environment, metricsText }: ForkOptions): () => WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Numbers such as +Inf survive this encoding, which JSON turns into null.
  cluster.setupPrimary({ serialization: 'advanced' });
  return () => {
    const worker = cluster.fork(environment);
    giveBackUnaccepted(worker);
    return asWorkerProcess(worker, metricsText);
  };
}

function asWorkerProcess(worker: Worker, metricsText: () => Promise<string>): WorkerProcess {
  const fit = Promise.withResolvers<string | null>();
  const hangs = Promise.withResolvers<void>();
  const reports = new Map<number, (report: Report | null) => void>();
  let asked = 0;

  // What cannot be sent has nobody to receive it, and that its end says.
  const send = (message: ToWorker): void => {
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'ready') fit.resolve(null);
    else if (message.kind === 'unfit') fit.resolve(message.message);
    else if (message.kind === 'hangs') hangs.resolve();
    else if (message.kind === 'report') reports.get(message.id)?.(message.report);
    else
      metricsText().then(
        (text) => send({ kind: 'metrics', id: message.id, text }),
        () => send({ kind: 'metrics', id: message.id, text: null }),
      );
  });
  worker.on('error', () => undefined);

  return {
    pid: worker.process.pid as number,
    fit: fit.promise,
    hangs: hangs.promise,
    ended: once(worker.process, 'exit').then(([code, signal]): Ended => ({ code, signal })),
    retire() {
      listening.delete(worker);
      send({ kind: 'retire' });
    },
    kill: (signal) => void worker.process.kill(signal),
    async report(withMetrics) {
      asked += 1;
      const id = asked;
      const answer = Promise.withResolvers<Report | null>();
      reports.set(id, answer.resolve);
      const late = setTimeout(() => answer.resolve(null), REPORT_TIMEOUT_MS);
      const gone = (): void => answer.resolve(null);
      worker.once('disconnect', gone);
      if (worker.isConnected()) send({ kind: 'report', id, withMetrics });
      else gone();
      return answer.promise.finally(() => {
        clearTimeout(late);
        worker.off('disconnect', gone);
        reports.delete(id);
      });
    },
  };
}

/** How node:cluster hands a connection over, and how a worker says whether it took it. */
interface HandOver {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: number;
  readonly ack?: number;
}

/** What node:cluster sends along with a hand-over. */
interface Handle {
  close(): void;
}

/** Workers that a connection can be handed to. */
const listening = new Set<Worker>();

/**
 * A connection is handed to a worker and forgotten as soon as the worker says that it took it. Where the worker dies before it says
 * anything, node:cluster (24) never learns that the worker is gone, and keeps the connection for ever: nobody serves it and nobody closes
 * it. So hand-overs are noted; once a worker's end and all that it had said have been read, we see to it that node:cluster knows, and give
 * the answer for it that a worker gives that has stopped to listen: "not taken". Then another one gets the connection.
 */
function giveBackUnaccepted(worker: Worker): void {
  const { process: child } = worker;
  const open = new Map<number, Handle>();
  const send = child.send.bind(child) as (...words: unknown[]) => boolean;
  const noting = (message: HandOver, handle?: Handle, ...rest: unknown[]): boolean => {
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && message.seq !== undefined && handle != null)
      open.set(message.seq, handle);
    return send(message, handle, ...rest);
  };
  child.send = noting as typeof child.send;
  child.on('internalMessage', (message: HandOver) => {
    if (message.ack !== undefined) open.delete(message.ack);
  });
  worker.once('listening', () => listening.add(worker));
  let isDisconnected = false;
  child.once('disconnect', () => {
    isDisconnected = true;
  });
  // The process has ended and its pipe was read to the end.
  child.once('close', () => {
    listening.delete(worker);
    if (!isDisconnected) child.emit('disconnect');
    for (const [seq, handle] of open) {
      // Without another one to take it, it is closed, and the client knows.
      if (listening.size === 0) handle.close();
      else child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
    }
    open.clear();
  });
}
