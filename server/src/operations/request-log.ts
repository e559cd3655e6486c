// What requests were answered, on its way to the database: a ring of a fixed size that the road of a request writes a few numbers into.
// What finds no room is counted and left out. Decides which reads are kept; knows no HTTP and no SQL.

import type { Uuid } from '../domain/ids.ts';
import type { LoggedMethod, RequestLogEntry } from '../domain/request-log.ts';
import type { Family } from './instruments.ts';

/** Answers that wait to be written: some seconds of the fastest server's writes. */
export const RING_SIZE = 16_384;
/** Answers of one statement. */
const BATCH = 1_024;
const FLUSH_INTERVAL_MS = 1_000;
const RATE_LIMITED = 429;

/** Who asked: a key, or a person with a session in its place. */
export interface Asker {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  readonly session: object | null;
}

/** Notes the answers of one operation. */
export interface RequestNote {
  answered(asker: Asker, requestId: string, method: string | undefined, status: number, durationMs: number): void;
}

export interface RequestLog {
  noteOf(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string): RequestNote;
  /** Writes what is waiting. */
  flush(): Promise<void>;
  /** Begins to write every second; the returned function ends that and writes a last time. */
  start(): () => Promise<void>;
  families(): Family[];
}

export interface RequestLogOptions {
  readonly insert: (entries: readonly RequestLogEntry[]) => Promise<void>;
  /** Of reads that succeed one in so many is kept; 0: none. */
  readonly sampleOneIn: number;
  readonly newId: () => Uuid;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

interface Slot {
  workspaceId: Uuid;
  keyId: Uuid;
  bySession: boolean;
  requestId: string;
  method: LoggedMethod;
  path: string;
  status: number;
  durationMs: number;
  at: number;
  count: number;
}

const emptySlot = (): Slot => ({
  workspaceId: '',
  keyId: '',
  bySession: false,
  requestId: '',
  method: 'GET',
  path: '',
  status: 0,
  durationMs: 0,
  at: 0,
  count: 0,
});

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { insert, sampleOneIn, newId, now, onError } = options;
  const ring = Array.from({ length: RING_SIZE }, emptySlot);
  let first = 0;
  let waiting = 0;
  let written = 0;
  let dropped = 0;
  let untilSample = sampleOneIn;
  let flushing: Promise<void> | null = null;
  /** Refusals for the rate limit that wait, by who asked for what: those of the same second are one entry, or whoever floods the server would fill the log. */
  const refused = new Map<string, Slot>();

  function keep(asker: Asker, requestId: string, method: LoggedMethod, path: string, status: number, durationMs: number): Slot | null {
    if (waiting === RING_SIZE) {
      dropped += 1;
      return null;
    }
    const slot = ring[(first + waiting) % RING_SIZE] as Slot;
    waiting += 1;
    slot.workspaceId = asker.workspaceId;
    slot.keyId = asker.keyId;
    slot.bySession = asker.session !== null;
    slot.requestId = requestId;
    slot.method = method;
    slot.path = path;
    slot.status = status;
    slot.durationMs = durationMs;
    slot.at = now();
    slot.count = 1;
    return slot;
  }

  function gather(asker: Asker, requestId: string, method: LoggedMethod, path: string, durationMs: number): void {
    const name = `${asker.workspaceId}:${asker.keyId}:${method} ${path}`;
    const known = refused.get(name);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const slot = keep(asker, requestId, method, path, RATE_LIMITED, durationMs);
    if (slot !== null) refused.set(name, slot);
  }

  function take(): RequestLogEntry[] {
    // What is handed on counts no further.
    refused.clear();
    const count = Math.min(waiting, BATCH);
    return Array.from({ length: count }, (_, i) => {
      const { at, ...rest } = ring[(first + i) % RING_SIZE] as Slot;
      return { ...rest, id: newId(), createdAt: new Date(at) };
    });
  }

  async function writeAll(): Promise<void> {
    while (waiting > 0) {
      const entries = take();
      try {
        await insert(entries);
        written += entries.length;
      } catch (error) {
        // Left out rather than tried again: what follows would find no room.
        dropped += entries.length;
        onError(error);
      }
      first = (first + entries.length) % RING_SIZE;
      waiting -= entries.length;
    }
    // In the same breath as the last look at what waits: whatever comes after begins anew.
    flushing = null;
  }

  function flush(): Promise<void> {
    if (flushing === null && waiting > 0) flushing = writeAll();
    return flushing ?? Promise.resolve();
  }

  return {
    flush,
    noteOf(method, path) {
      const isRead = method === 'GET';
      return {
        answered(asker, requestId, asked, status, durationMs) {
          const used = asked === 'HEAD' ? 'HEAD' : method;
          if (status === RATE_LIMITED) {
            gather(asker, requestId, used, path, durationMs);
            return;
          }
          if (isRead && status < 400) {
            untilSample -= 1;
            if (untilSample !== 0) return;
            untilSample = sampleOneIn;
          }
          keep(asker, requestId, used, path, status, durationMs);
        },
      };
    },
    start() {
      const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS);
      timer.unref();
      return async () => {
        clearInterval(timer);
        await flush();
      };
    },
    families: () => [
      {
        name: 'tranche_request_log_entries_total',
        help: 'Entries of the request log, by what became of them.',
        type: 'counter',
        samples: [
          { labels: { outcome: 'written' }, value: written },
          { labels: { outcome: 'dropped' }, value: dropped },
        ],
      },
      {
        name: 'tranche_request_log_waiting',
        help: 'Entries of the request log that wait to be written.',
        type: 'gauge',
        samples: [{ value: waiting }],
      },
    ],
  };
}
