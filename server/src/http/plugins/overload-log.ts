// What the log says of answers with 503: the first at once, then one line every few seconds with how many there were.
// A line for each would cost more than the refusal itself, at the very time when there is nothing to spare.

import type { Logger } from 'pino';

const LOG_EVERY_MS = 5_000;

export function createOverloadLog(log: Logger, uptimeMs: () => number): (requestId: string, detail: string) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (requestId, detail) => {
    const now = uptimeMs();
    if (now - loggedAtMs < LOG_EVERY_MS) {
      unlogged += 1;
      return;
    }
    log.error({ request_id: requestId, code: 'overloaded', ...(unlogged === 0 ? {} : { others: unlogged }) }, detail);
    loggedAtMs = now;
    unlogged = 0;
  };
}
