// Stopping a process that serves or works: on SIGTERM or SIGINT, in order, and by force when that takes too long.
// Knows nothing of what is stopped.

import type { Logger } from 'pino';

/** How long a stop may take before it is forced: supervisors commonly wait for 30 s. */
const STOP_TIMEOUT_MS = 25_000;

export function stopOnSignals(stop: () => Promise<void>, log: Logger): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping: what was accepted is finished first');
    const forced = setTimeout(() => {
      log.error('the stop took too long and is forced');
      process.exit(1);
    }, STOP_TIMEOUT_MS);
    forced.unref();
    stop().then(
      () => log.info('stopped'),
      (error: unknown) => {
        log.error({ err: error }, 'the stop failed');
        process.exitCode = 1;
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
