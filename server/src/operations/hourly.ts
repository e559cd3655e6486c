// A round of clearing away, now and every hour. One is over before the next begins, and a stop waits for the one under way.

const HOUR_MS = 60 * 60_000;

/** Until the returned function is called, which aborts the signal. */
export function startHourly(work: (signal: AbortSignal) => Promise<unknown>, onError: (error: unknown) => void): () => Promise<void> {
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const round = (): void => {
    running = running.then(() => work(ending.signal)).catch(onError);
  };
  const timer = setInterval(round, HOUR_MS);
  timer.unref();
  round();
  return async () => {
    clearInterval(timer);
    ending.abort();
    await running;
  };
}
