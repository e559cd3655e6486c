// What a supervisor sees of one of its processes, and what it may tell it.
// Types only; cluster-workers.ts makes real ones.

import type { Report } from '../operations/operating.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One process, as far as its supervisor is concerned. */
export interface WorkerProcess {
  readonly pid: number;
  /** Null once it can work; a message when it has said that it never will. Stays open when it just dies. */
  readonly fit: Promise<string | null>;
  readonly ended: Promise<Ended>;
  /** Resolves when the worker asks to be replaced; stays open otherwise. */
  readonly hangs: Promise<void>;
  retire(): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Null when it does not answer in time. */
  report(withMetrics: boolean): Promise<Report | null>;
}
