// One of the processes of `serve --processes`: serves until told to stop, or to make room for its successor.
// Prints nothing and sets nothing up; its supervisor has done both.

import type { Logger } from 'pino';
import { composeService, type Service, type Supervised } from './compose.ts';
import { type Config, ConfigurationError } from './config.ts';
import { letHeapGrow } from './heap.ts';
import { watchSilence } from './http/close-server.ts';
import { listenForRequests } from './listening.ts';
import { createLog } from './log.ts';
import { openStore } from './open-store.ts';
import type { FromWorker, ToWorker } from './processes/messages.ts';
import { stopOnSignals } from './signals.ts';
import { EncryptionKeyRefused } from './store/cipher.ts';
import { NewerSchema } from './store/migrations.ts';
import { UnsupportedDatabase } from './store/open.ts';

/** How long the supervisor may take to gather what all processes tell. */
const METRICS_TIMEOUT_MS = 5_000;
/**
 * While retiring, nobody waits for the port. Idle connections are left for as long as a busy client leaves one unused, and requests for
 * as long as one may take to arrive.
 */
const RETIRE = { idleMs: 10_000, requestsMs: 35_000 } as const;

export async function serveSupervised(config: Config, version: string): Promise<void> {
  const log = createLog(config);
  // The supervisor decides what a terminal's end means for its processes.
  process.on('SIGHUP', () => undefined);
  const pipe = openPipe();
  const { service, closeSilent } = await start(config, version, log, pipe.supervised).catch(async (error: unknown) => {
    if (unfitKinds.some((kind) => error instanceof kind)) await pipe.sendLast({ kind: 'unfit', message: (error as Error).message });
    // A pipe that is open would keep this process alive, and what is not said here is said by its end.
    else log.fatal({ err: error }, 'could not start');
    process.exit(1);
  });

  const hurry = new AbortController();
  let ending: Promise<void> | null = null;
  const end = (patience?: Parameters<Service['stop']>[0]): Promise<void> => {
    // The pipe to the supervisor would keep this process alive.
    ending ??= service.stop(patience).finally(() => setImmediate(() => process.exit()));
    return ending;
  };
  pipe.serve(service, () => {
    log.info('retiring: another process has taken over');
    end({ ...RETIRE, closeSilent, hurry: hurry.signal }).catch((error: unknown) => {
      log.error({ err: error }, 'the end failed');
      process.exitCode = 1;
    });
  });
  stopOnSignals(() => {
    hurry.abort();
    return end();
  }, log);
  pipe.send({ kind: 'ready' });
}

/** What another start would not mend. A database that is out of reach is not among them. */
const unfitKinds = [ConfigurationError, EncryptionKeyRefused, NewerSchema, UnsupportedDatabase];

interface Started {
  readonly service: Service;
  readonly closeSilent: () => void;
}

async function start(config: Config, version: string, log: Logger, supervised: Supervised): Promise<Started> {
  const store = await openStore(config, log);
  const service = composeService(store, config, version, log, supervised);
  try {
    await service.start();
    letHeapGrow();
    const closeSilent = watchSilence(service.app.server);
    // Last: from here on it is given connections.
    await listenForRequests(service.app, config);
    return { service, closeSilent };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

interface Pipe {
  readonly supervised: Supervised;
  send(message: FromWorker): void;
  /** Resolves when it has left. */
  sendLast(message: FromWorker): Promise<void>;
  /** Answers the supervisor from now on. */
  serve(service: Service, onRetire: () => void): void;
}

function openPipe(): Pipe {
  const waiting = new Map<number, (text: string | null) => void>();
  let asked = 0;
  // A supervisor that is gone takes this process with it.
  const send = (message: FromWorker): void => void process.send?.(message, () => undefined);

  async function metricsOfAll(): Promise<string> {
    asked += 1;
    const id = asked;
    const answer = Promise.withResolvers<string | null>();
    waiting.set(id, answer.resolve);
    const late = setTimeout(() => answer.resolve(null), METRICS_TIMEOUT_MS);
    send({ kind: 'wants metrics', id });
    const text = await answer.promise;
    clearTimeout(late);
    waiting.delete(id);
    if (text === null) throw new Error('the supervisor did not tell the metrics of all processes');
    return text;
  }

  return {
    supervised: { metricsOfAll, onHang: () => send({ kind: 'hangs' }) },
    send,
    sendLast: (message) => new Promise((sent) => process.send?.(message, () => sent())),
    serve(service, onRetire) {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'retire') onRetire();
        else if (message.kind === 'metrics') waiting.get(message.id)?.(message.text);
        else
          service.operating.report(message.withMetrics).then(
            (report) => send({ kind: 'report', id: message.id, report }),
            // Without an answer in time the supervisor takes it for mute.
            () => undefined,
          );
      });
    },
  };
}
