// A loop that works in passes, rests until it is rung or some time has passed, and never ends by itself: a pass that throws is logged, and
// after a pause that grows with every failure the next one begins. Knows nothing of webhooks.

import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../store/log.ts';
import { createBell } from './bell.ts';

/** A pause after failures doubles so often. */
const MAX_DOUBLINGS = 4;

/** Nobody rings, and yet something will be to do after so many milliseconds. */
export interface Rest {
  readonly restMs: number;
  /** Whether until then there is nothing to do: what is to be done by then is not due yet. */
  readonly isSettled: boolean;
}

export interface LoopOptions {
  /** For the log. */
  readonly name: string;
  /** Returns whether to go on at once; or, where that is known, when. */
  readonly pass: () => Promise<boolean | Rest>;
  /** Whether all that earlier passes began has ended. Only a pass that begins so can tell that there is nothing to do. */
  readonly isQuiet?: () => boolean;
  /** Between two passes, so that what comes in quick succession is handled together. */
  readonly pauseMs: number;
  readonly pollMs: number;
  readonly errorPauseMs: number;
  /** Milliseconds that only ever grow, whatever any clock is set to. */
  readonly uptimeMs: () => number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Loop {
  run(): Promise<void>;
  ring(): void;
  /** Resolves when a pass that began after this call found nothing more to do. Rejects when the loop is stopped. */
  settled(): Promise<void>;
  /** When the last pass ended without an error, by `uptimeMs`. */
  readonly lastRunMs: number | null;
  /** When the last pass ended, with an error or without: a loop that keeps failing is alive, one that stands still is not. */
  readonly lastPassMs: number | null;
  /** The message of the error that ended the last pass, null when there was none. */
  readonly lastError: string | null;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export function createLoop({ name, pass, isQuiet = () => true, pauseMs, pollMs, errorPauseMs, uptimeMs, log, signal }: LoopOptions): Loop {
  const bell = createBell();
  let waiters: Waiter[] = [];
  let lastRunMs: number | null = null;
  let lastPassMs: number | null = null;
  let lastError: string | null = null;
  let failures = 0;

  async function once(): Promise<boolean | Rest> {
    const waiting = isQuiet() ? waiters : [];
    if (waiting.length > 0) waiters = [];
    try {
      const next = await pass();
      lastRunMs = uptimeMs();
      lastError = null;
      failures = 0;
      if (next === false || (next !== true && next.isSettled)) for (const waiter of waiting.splice(0)) waiter.resolve();
      return next;
    } catch (error) {
      lastError = error instanceof Error ? error.message : String(error);
      log.error({ err: error, loop: name }, 'webhook worker failed and goes on after a pause');
      await pause(errorPauseMs * 2 ** Math.min(failures, MAX_DOUBLINGS), undefined, { signal }).catch(() => {});
      failures += 1;
      return true;
    } finally {
      waiters.push(...waiting);
      lastPassMs = uptimeMs();
    }
  }

  return {
    async run() {
      while (!signal.aborted) {
        const next = await once();
        await pause(pauseMs);
        if (next !== true) await bell.wait(next === false ? pollMs : Math.min(next.restMs, pollMs));
      }
      for (const waiter of waiters.splice(0)) waiter.reject(new Error('The delivery worker was stopped.'));
    },
    ring: () => bell.ring(),
    settled() {
      if (signal.aborted) return Promise.reject(new Error('The delivery worker was stopped.'));
      const done = new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }));
      bell.ring();
      return done;
    },
    get lastRunMs() {
      return lastRunMs;
    },
    get lastPassMs() {
      return lastPassMs;
    },
    get lastError() {
      return lastError;
    },
  };
}
