// What requests were answered, on its way to the database: a ring of a fixed size that the road of a request writes a few numbers into.
// What finds no room is counted and left out. Decides which reads are kept; knows no HTTP and no SQL.

import type { Uuid } from '../domain/ids.ts';
import type { LoggedMethod, RequestLogEntry } from '../domain/request-log.ts';
import type { Family } from './instruments.ts';
import { ShortTexts } from './short-texts.ts';

/** Answers that wait to be written: some seconds of the fastest server's writes. */
export const RING_SIZE = 16_384;
/** Answers of one statement. */
const BATCH = 256;
/** Often and little at a time: all answers of a second at once hold up whatever is asked for in those milliseconds. */
const FLUSH_INTERVAL_MS = 100;
/** Refusals for the rate limit are gathered for so many of them, a second. */
const GATHERED_FLUSHES = 10;
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
  /** Writes what is waiting, and what is being gathered. */
  flush(): Promise<void>;
  /** Begins to write what waits, ten times a second; the returned function ends that and writes a last time. */
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

/** What is kept of an answer beside its request's id. */
interface Slot {
  workspaceId: Uuid;
  keyId: Uuid;
  bySession: boolean;
  method: LoggedMethod;
  path: string;
  status: number;
  durationMs: number;
  at: number;
  count: number;
}

/** An answer on its way into the ring. */
interface Answered {
  readonly asker: Asker;
  readonly requestId: string;
  readonly method: LoggedMethod;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly at: number;
  /** How many it stands for: those that were refused alike within a second. */
  count: number;
}

const emptySlot = (): Slot => ({
  workspaceId: '',
  keyId: '',
  bySession: false,
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
  const requestIds = new ShortTexts(RING_SIZE);
  let first = 0;
  let waiting = 0;
  let written = 0;
  let dropped = 0;
  let untilSample = sampleOneIn;
  let flushing: Promise<void> | null = null;
  /** Refusals for the rate limit of the last second, by who asked for what: they are one entry, or whoever floods the server would fill the log. */
  const refused = new Map<string, Answered>();

  function keep({ asker, requestId, method, path, status, durationMs, at, count }: Answered): void {
    if (waiting === RING_SIZE) {
      dropped += 1;
      return;
    }
    const place = (first + waiting) % RING_SIZE;
    const slot = ring[place] as Slot;
    waiting += 1;
    requestIds.put(place, requestId);
    slot.workspaceId = asker.workspaceId;
    slot.keyId = asker.keyId;
    slot.bySession = asker.session !== null;
    slot.method = method;
    slot.path = path;
    slot.status = status;
    slot.durationMs = durationMs;
    slot.at = at;
    slot.count = count;
  }

  function gather(answered: Answered): void {
    const { asker, method, path } = answered;
    const name = `${asker.workspaceId}:${asker.keyId}:${method} ${path}`;
    const known = refused.get(name);
    if (known !== undefined) known.count += 1;
    else if (refused.size === RING_SIZE) dropped += 1;
    else refused.set(name, answered);
  }

  function keepRefused(): void {
    for (const answered of refused.values()) keep(answered);
    refused.clear();
  }

  function take(): RequestLogEntry[] {
    const count = Math.min(waiting, BATCH);
    return Array.from({ length: count }, (_, i) => {
      const place = (first + i) % RING_SIZE;
      const { at, ...rest } = ring[place] as Slot;
      return { ...rest, requestId: requestIds.at(place), id: newId(), createdAt: new Date(at) };
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

  function writeWaiting(): Promise<void> {
    if (flushing === null && waiting > 0) flushing = writeAll();
    return flushing ?? Promise.resolve();
  }

  function flush(): Promise<void> {
    keepRefused();
    return writeWaiting();
  }

  return {
    flush,
    noteOf(method, path) {
      const isRead = method === 'GET';
      return {
        answered(asker, requestId, asked, status, durationMs) {
          if (isRead && status < 400) {
            untilSample -= 1;
            if (untilSample !== 0) return;
            untilSample = sampleOneIn;
          }
          const used = asked === 'HEAD' ? 'HEAD' : method;
          const answered: Answered = { asker, requestId, method: used, path, status, durationMs, at: now(), count: 1 };
          if (status === RATE_LIMITED) gather(answered);
          else keep(answered);
        },
      };
    },
    start() {
      let turn = 0;
      const timer = setInterval(() => {
        turn = (turn + 1) % GATHERED_FLUSHES;
        void (turn === 0 ? flush() : writeWaiting());
      }, FLUSH_INTERVAL_MS);
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
