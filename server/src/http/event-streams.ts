// The open event streams of this process: each is sent what its workspace commits, in order, from where it asked on.
// Reads the log and writes to connections; never holds more of a stream in memory than one page, and cuts who does not read.

import type { ServerResponse } from 'node:http';
import { allChangedResources, readHintText } from '../domain/change-hint.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Event, EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import { presentEvent } from '../schemas/events.ts';
import type { Page } from '../store/lists.ts';
import type { Log } from '../store/log.ts';
import type { Caller, StreamAnswer } from './route.ts';
import { createKeyWatch, type FindKeys } from './stream-keys.ts';

export const streamLimits = {
  /** Open at once with one key; each costs a connection and a place in every pass. */
  perKey: 20,
  /** Open at once in this process. */
  perProcess: 1_000,
  /** Events read and written at once: what one stream can hold of the memory. */
  pageEvents: 100,
  /** How long a reader may leave what was written unread. */
  unreadMs: 10_000,
  /** Between two signs of life, below the 30 s after which proxies commonly give up. */
  heartbeatMs: 15_000,
  /** How often the heads are looked at, in case a notification was missed. */
  pollMs: 1_000,
  /** How often it is asked whether the keys still hold, and how old that answer may be when an event is written. */
  keyCheckMs: 300,
  keyAgeMs: 700,
  /** How long a stop leaves a connection to take its last words. */
  closeMs: 1_000,
} as const;

export type StreamLimits = { readonly [Name in keyof typeof streamLimits]: number };

export interface EventStreamsOptions {
  readonly listEvents: (workspaceId: Uuid, afterSeq: number, limit: number) => Promise<Page<Event>>;
  /** The last sequence number of each workspace. */
  readonly findLastSeqs: (workspaceIds: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, number>>;
  readonly findKeys: FindKeys;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
  readonly limits?: Partial<StreamLimits>;
}

export interface StreamRequest {
  /** Events after this one; null for those that are committed from now on. */
  readonly afterSeq: number | null;
  /** Null: every kind. */
  readonly types: ReadonlySet<EventType> | null;
  /** Whether it goes on where an earlier connection broke. */
  readonly isResumed: boolean;
}

export interface EventStreams {
  open(caller: Caller, request: StreamRequest): Promise<StreamAnswer | Refusal>;
  /** A notification of new events: workspace ids with commas between, or nothing for "look at all". */
  hear(payload: string): void;
  /** A notification of what changed without an event, as `hintTexts` writes it. */
  hearChange(payload: string): void;
  /** Some key changed: those in use are asked for at once. */
  hearKey(): void;
  readonly size: number;
  /** Ends every stream cleanly and opens no more. */
  close(): Promise<void>;
}

interface Stream {
  readonly caller: Caller;
  readonly types: ReadonlySet<EventType> | null;
  readonly response: ServerResponse;
  /** The last event that was sent or passed by. */
  seq: number;
  /** The last one that the reader was told of. */
  toldSeq: number;
  isPumping: boolean;
  isBehind: boolean;
  isOver: boolean;
}

/** One event as Server-Sent Events write it. No `event:` line, so that a plain listener gets every kind, those of later versions too. */
export const eventMessage = (event: Event): string => `id: ${event.seq}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`;

/** A message of another kind than events, so that nobody takes it for one. It has no id: a hint that was missed is not told again. */
const changeMessage = (resources: readonly string[]): string => `event: change\ndata: ${JSON.stringify({ resources })}\n\n`;

export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { listEvents, findLastSeqs, findKeys, now, log } = options;
  const limits: StreamLimits = { ...streamLimits, ...options.limits };
  const streams = new Set<Stream>();
  const timers: NodeJS.Timeout[] = [];
  /** Requests that are about to become streams. */
  const opening = new Set<{ readonly caller: Caller }>();
  let isClosing = false;
  let onEmpty: (() => void) | null = null;

  const read = shared((workspaceId: Uuid, seq: number) => listEvents(workspaceId, seq, limits.pageEvents));
  const keys = createKeyWatch({ findKeys, now, streams, end: (stream, reason) => end(stream, reason) });

  function end(stream: Stream, reason: string): void {
    if (stream.isOver) return;
    stream.isOver = true;
    const { response } = stream;
    if (response.writableNeedDrain) response.destroy();
    else response.end(`: the end: ${reason}\n\n`);
    const late = setTimeout(() => response.destroy(), limits.closeMs);
    response.once('close', () => clearTimeout(late));
  }

  function remove(stream: Stream): void {
    stream.isOver = true;
    streams.delete(stream);
    if (streams.size > 0) return;
    for (const timer of timers.splice(0)) clearInterval(timer);
    onEmpty?.();
  }

  /** Sends what lies after the stream's place, page by page, and no faster than it is read. */
  async function pump(stream: Stream): Promise<void> {
    stream.isBehind = true;
    if (stream.isPumping) return;
    stream.isPumping = true;
    try {
      while (stream.isBehind && !stream.isOver) {
        stream.isBehind = false;
        const page = await read(stream.caller.workspaceId, stream.seq);
        const wanted = page.records.filter(({ type }) => stream.types === null || stream.types.has(type));
        if (wanted.length > 0 && keys.ageMs() > limits.keyAgeMs) await keys.check();
        if (stream.isOver) return;
        stream.seq = page.records.at(-1)?.seq ?? stream.seq;
        if (page.hasMore) stream.isBehind = true;
        if (wanted.length === 0) continue;
        stream.toldSeq = (wanted.at(-1) as Event).seq;
        if (!stream.response.write(wanted.map(eventMessage).join('')) && !(await drained(stream.response, limits.unreadMs))) {
          log.warn({ keyId: stream.caller.keyId, seq: stream.seq }, 'event stream cut: its reader does not read');
          stream.response.destroy();
        }
      }
    } catch (error) {
      log.error({ err: error }, 'event stream ended: the log could not be read');
      end(stream, 'the server could not read the log; come back with Last-Event-ID');
    } finally {
      stream.isPumping = false;
    }
  }

  /** A comment keeps the connection open; an id without data moves the place on for a reader whose filter passes much by. */
  function beat(): void {
    for (const stream of streams) {
      if (stream.isOver || stream.response.writableNeedDrain) continue;
      stream.response.write(stream.seq > stream.toldSeq ? `: still here\nid: ${stream.seq}\n\n` : ': still here\n\n');
      stream.toldSeq = stream.seq;
    }
  }

  /** Only people are told: a program has asked for events. Who does not read, or hears too late, looks by itself now and then. */
  function hint({ caller, isOver, response }: Stream, resources: readonly string[]): void {
    if (caller.session === null || isOver || response.writableNeedDrain) return;
    response.write(changeMessage(resources));
  }

  async function look(): Promise<void> {
    try {
      const heads = await findLastSeqs([...new Set([...streams].map(({ caller }) => caller.workspaceId))]);
      for (const stream of streams) if ((heads.get(stream.caller.workspaceId) ?? 0) > stream.seq) void pump(stream);
    } catch (error) {
      log.error({ err: error }, 'event streams could not look for events');
    }
  }

  /** Timers run only while there is a stream. */
  function startTimers(): void {
    if (timers.length > 0) return;
    const checkKeys = () => void keys.check().catch((error: unknown) => log.error({ err: error }, 'keys of event streams not checked'));
    timers.push(
      setInterval(beat, limits.heartbeatMs),
      setInterval(() => void look(), limits.pollMs),
      setInterval(checkKeys, limits.keyCheckMs),
    );
  }

  function refuse({ workspaceId, keyId }: Caller): Refusal | null {
    if (streams.size + opening.size >= limits.perProcess)
      return { code: 'overloaded', detail: 'This server has no room for another stream.' };
    let own = 0;
    for (const { caller } of [...streams, ...opening]) if (caller.keyId === keyId && caller.workspaceId === workspaceId) own += 1;
    if (own < limits.perKey) return null;
    return { code: 'too_many_streams', detail: `This key has ${own} event streams open, as many as one key may have here; close one.` };
  }

  async function open(caller: Caller, request: StreamRequest): Promise<StreamAnswer | Refusal> {
    const refusal = refuse(caller);
    if (refusal !== null) return refusal;
    const place = { caller };
    opening.add(place);
    try {
      const seq = request.afterSeq ?? (await findLastSeqs([caller.workspaceId])).get(caller.workspaceId) ?? 0;
      return { stream: (response) => begin(caller, request, seq, response) };
    } finally {
      opening.delete(place);
    }
  }

  function begin(caller: Caller, { types, isResumed }: StreamRequest, seq: number, response: ServerResponse): void {
    const stream: Stream = { caller, types, response, seq, toldSeq: seq, isPumping: false, isBehind: false, isOver: false };
    response.once('close', () => remove(stream));
    response.on('error', () => {});
    streams.add(stream);
    // How long a client waits before it comes back, and the place where it stands should it have to before the first event.
    response.write(`retry: 2000\nid: ${seq}\n\n`);
    // Hints of the time between were not kept, so everything may have changed.
    if (isResumed) hint(stream, allChangedResources);
    if (isClosing) return end(stream, 'the server is stopping');
    startTimers();
    void pump(stream);
  }

  return {
    open,
    hear(payload) {
      if (streams.size === 0) return;
      const told = payload === '' ? null : new Set(payload.split(','));
      for (const stream of streams) if (told === null || told.has(stream.caller.workspaceId)) void pump(stream);
    },
    hearChange(payload) {
      if (streams.size === 0) return;
      const told = readHintText(payload);
      for (const stream of streams) {
        const resources = told.get(stream.caller.workspaceId);
        if (resources !== undefined) hint(stream, resources);
      }
    },
    hearKey() {
      if (streams.size > 0) keys.check().catch((error: unknown) => log.error({ err: error }, 'keys of event streams not checked'));
    },
    get size() {
      return streams.size;
    },
    async close() {
      isClosing = true;
      if (streams.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      for (const stream of streams) end(stream, 'the server is stopping');
      await empty;
    },
  };
}

/** Calls with the same arguments that overlap are one call: streams at the same place of the log read it once. */
function shared<Result>(call: (workspaceId: Uuid, seq: number) => Promise<Result>): (workspaceId: Uuid, seq: number) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  return (workspaceId, seq) => {
    const name = `${workspaceId}:${seq}`;
    const known = running.get(name);
    if (known !== undefined) return known;
    const result = call(workspaceId, seq).finally(() => running.delete(name));
    running.set(name, result);
    return result;
  };
}

/** Whether what was written has left, or at least reached the system, in time. */
function drained(response: ServerResponse, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isDrained: boolean) => () => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
      resolve(isDrained);
    };
    const onDrain = finish(true);
    const onClose = finish(true); // Gone by itself: nobody has to cut it.
    const timer = setTimeout(finish(false), timeoutMs);
    response.once('drain', onDrain).once('close', onClose);
  });
}
