// The event stream over real sockets: order, resuming, filters, several processes, bounds, and every way in which it ends.
// What the document says of it is in the contract tests.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readMessages, type StreamMessage } from '../src/command-line/stream-messages.ts';
import { decodeId } from '../src/domain/ids.ts';
import { createEventStreams, type EventStreamsOptions } from '../src/http/event-streams.ts';
import { listEvents } from '../src/store/events.ts';
import { bringMilestone, type Json, openTestApp, type TestApp, type TestAppOptions } from './support/app.ts';
import { places, startServer } from './support/server-process.ts';
import { until } from './support/webhook-fixtures.ts';

async function listening(options: TestAppOptions = {}): Promise<{ app: TestApp; url: string; stop: () => Promise<void> }> {
  const app = await openTestApp({ deliver: true, ...options });
  const url = await app.service.app.listen({ host: '127.0.0.1', port: 0 });
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopped ??= app.stop());
  onTestFinished(stop);
  return { app, url, stop };
}

interface Reader {
  readonly response: Response;
  /** The events so far. */
  readonly events: Json[];
  readonly messages: StreamMessage[];
  /** Resolves when the server has ended the stream; rejects when it was cut. */
  readonly ended: Promise<void>;
}

/** With a key, or else with whatever the headers say. */
async function read(url: string, key: string | null, query = '', headers: Record<string, string> = {}): Promise<Reader> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/v1/events/stream${query}`, {
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    signal: leaving.signal,
  });
  onTestFinished(() => leaving.abort());
  const [events, messages]: [Json[], StreamMessage[]] = [[], []];
  const ended = (async () => {
    for await (const message of readMessages(response.body as AsyncIterable<Uint8Array>)) {
      messages.push(message);
      if (message.data !== null) events.push(JSON.parse(message.data));
    }
  })();
  ended.catch(() => {});
  return { response, events, messages, ended };
}

const seqs = (reader: Reader): number[] => reader.events.map(({ seq }) => seq);

describe('a stream', () => {
  test('begins with what is committed from now on, or after a seq, or after Last-Event-ID, and has no gap (I-27)', async () => {
    const { app, url } = await listening();
    await bringMilestone(app, 'approved');
    const fromNow = await read(url, app.key);
    const fromStart = await read(url, app.key, '?after_seq=0');
    const resumed = await read(url, app.key, '?after_seq=0', { 'last-event-id': '2' });
    await until(() => fromStart.events.length >= 5 && fromNow.messages.length > 0);
    const { milestone } = await bringMilestone(app, 'approved');
    const logged = (await app.ok('GET', '/v1/events?limit=100')).data;
    expect(logged.at(-1).data.milestoneId).toBe(milestone.id);
    await until(() => [fromNow, fromStart, resumed].every(({ events }) => events.at(-1)?.seq === logged.at(-1).seq));
    expect(fromStart.events).toEqual(logged);
    expect(resumed.events).toEqual(logged.slice(2));
    expect(fromNow.events).toEqual(logged.slice(logged.length / 2));
    const carried = fromStart.messages.filter(({ data }) => data !== null);
    expect(carried.map(({ id }) => Number(id))).toEqual(seqs(fromStart));
    expect(fromStart.response.headers.get('content-type')).toBe('text/event-stream');
    expect(fromStart.response.headers.get('cache-control')).toBe('no-store');
  });

  test('sends only the kinds it is asked for, only of its own workspace, and goes through more than one page', async () => {
    const { app, url } = await listening();
    const other = await app.addWorkspace();
    for (let n = 0; n < 130; n += 1) await app.ok('POST', '/v1/projects', { body: { name: `p${n}`, client_id: 'c' } });
    await bringMilestone(app, 'approved');
    const theirs = await read(url, other.key, '?after_seq=0');
    const all = await read(url, app.key, '?after_seq=0');
    const some = await read(url, app.key, '?after_seq=0&event_types=payment.released,milestone.approved');
    await until(() => some.events.length === 2 && all.events.at(-1)?.type === 'payment.released');
    expect(some.events.map(({ type }) => type)).toEqual(['milestone.approved', 'payment.released']);
    expect(seqs(all)).toEqual(all.events.map((_, n) => n + 1));
    expect(theirs.events).toEqual([]);
  });

  test('counts as one request of the limit, however long it is open', async () => {
    const { app, url } = await listening({ limitPerMinute: 100 });
    const reader = await read(url, app.key);
    const before = /r=(\d+)/.exec(reader.response.headers.get('ratelimit') ?? '')?.[1];
    await app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    await until(() => reader.events.length === 1);
    const after = (await app.call('GET', '/v1/projects')).headers.ratelimit;
    expect(Number(before) - Number(/r=(\d+)/.exec(after ?? '')?.[1])).toBe(2);
  });

  test('is refused with a wrong place or kind, naming it', async () => {
    const { app, url } = await listening();
    for (const [query, headers, pointer] of [
      ['?after_seq=-1', {}, 'query/after_seq'],
      ['?event_types=payment.lost', {}, 'query/event_types'],
      ['?event_types=', {}, 'query/event_types'],
      ['?event_types=payment.released,payment.released', {}, 'query/event_types'],
      ['', { 'last-event-id': 'evt_1' }, 'header/Last-Event-ID'],
    ] as const) {
      const response = await fetch(`${url}/v1/events/stream${query}`, { headers: { authorization: `Bearer ${app.key}`, ...headers } });
      const problem: Json = await response.json();
      expect([query, response.status, problem.errors[0].pointer]).toEqual([query, 422, pointer]);
    }
  });

  test('ends cleanly within a second of the revocation of its key, and of its expiry; others go on', async () => {
    const { app, url } = await listening();
    const { id, secret } = await app.ok('POST', '/v1/api_keys', { body: { name: 'short', scopes: ['events:read'] } });
    const soon = new Date(Date.now() + 1_000);
    const expiring = await app.ok('POST', '/v1/api_keys', { body: { name: 'e', scopes: ['events:read'], expires_at: soon.toISOString() } });
    const [mine, theirs, late] = [await read(url, app.key), await read(url, secret), await read(url, expiring.secret)];
    await app.ok('DELETE', `/v1/api_keys/${id}`);
    const revokedAt = Date.now();
    await theirs.ended;
    expect(Date.now() - revokedAt).toBeLessThan(1_000);
    await late.ended;
    expect(Date.now() - soon.getTime()).toBeLessThan(1_000);
    await app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    await until(() => mine.events.length === 1);
    expect([theirs.events, late.events]).toEqual([[], []]);
  });

  test('carries no event after its key was revoked behind the back of every notification (I-27)', async () => {
    const { app, url } = await listening();
    const { id, secret } = await app.ok('POST', '/v1/api_keys', { body: { name: 'short', scopes: ['events:read'] } });
    const reader = await read(url, secret);
    await until(() => reader.messages.length > 0);
    await app.database.query('update api_keys set revoked_at = now() where id = $1', [decodeId('api_key', id)]);
    const revokedAt = Date.now();
    await reader.ended;
    expect(Date.now() - revokedAt).toBeLessThan(1_000);
  });

  test('ends cleanly when the server stops, and none is opened after', async () => {
    const { app, url, stop } = await listening();
    const readers = await Promise.all(Array.from({ length: 5 }, () => read(url, app.key)));
    await stop();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  test('is one of so many for a key and for a process; the next is refused, and one that closes makes room', async () => {
    const { app, url } = await listening();
    const readers: AbortController[] = [];
    const open = async (): Promise<Response> => {
      const leaving = new AbortController();
      readers.push(leaving);
      return fetch(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${app.key}` }, signal: leaving.signal });
    };
    for (let n = 0; n < 20; n += 1) expect((await open()).status).toBe(200);
    const refused = await open();
    expect([refused.status, ((await refused.json()) as Json).code, refused.headers.get('retry-after')]).toEqual([
      429,
      'too_many_streams',
      '1',
    ]);
    readers[0]?.abort();
    await until(async () => (await open()).status === 200);
    for (const reader of readers) reader.abort();
  });
});

describe('what a stream may take', () => {
  const options = (more: Partial<EventStreamsOptions>): EventStreamsOptions => ({
    listEvents: async () => ({ records: [], hasMore: false }),
    findLastSeqs: async (ids) => new Map(ids.map((id) => [id, 0])),
    findKeys: async (keys) => keys.map((key) => ({ ...key, expiresAt: null, revokedAt: null })),
    now: Date.now,
    log: pino({ level: 'silent' }),
    ...more,
  });

  test('a reader that does not read is cut, and until then no more than a page waits for it', async () => {
    const { app } = await listening();
    const milestones = Array.from({ length: 60 }, (_, n) => ({ title: `${n} ${'x'.repeat(200)}`, amount: 1 }));
    for (let n = 0; n < 40; n += 1) await app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c', milestones } });
    let pages = 0;
    const streams = createEventStreams(
      options({
        // A log that goes on for ever: the same events again and again.
        listEvents: async (workspaceId, afterSeq, limit) => {
          pages += 1;
          const page = await listEvents(app.database, workspaceId, afterSeq % 2_000, limit);
          return { records: page.records, hasMore: true };
        },
        limits: { unreadMs: 300 },
      }),
    );
    const caller = { workspaceId: app.workspaceId, keyId: app.workspaceId, scopes: [], session: null };
    const server = createServer(async (_, response) => {
      const answer = await streams.open(caller, { afterSeq: 0, types: null, isResumed: false });
      if ('stream' in answer) answer.stream(response.writeHead(200));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(async () => {
      socket.destroy();
      await streams.close();
      server.close();
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.pause();
    await until(() => streams.size === 1);
    await until(() => streams.size === 0);
    // What the two ends of the connection hold by themselves is a few MiB; a page is about 50 KiB.
    expect(pages).toBeLessThan(400);
  });

  test('a process takes no more streams than it has room for', async () => {
    const streams = createEventStreams(options({ limits: { perProcess: 0 } }));
    const caller = { workspaceId: 'w', keyId: 'k', scopes: [], session: null };
    expect(await streams.open(caller, { afterSeq: 0, types: null, isResumed: false })).toMatchObject({ code: 'overloaded' });
  });
});

const postgres = places.find(({ name }) => name === 'PostgreSQL') as (typeof places)[number];

describe('over several processes', () => {
  test.skipIf(!postgres.available)(
    'what one process commits is streamed by another, which goes on where the first was left; SIGTERM ends streams cleanly',
    async () => {
      const variables = await postgres.make();
      const [first, second] = [await startServer(variables), await startServer(variables)];
      const key = variables.TRANCHE_API_KEY as string;
      const reader = await read(first.url, key);
      await until(() => reader.messages.length > 0);
      await second.call('POST', '/v1/projects', { key, body: { name: 'p', client_id: 'c' } });
      await until(() => reader.events.length === 1);
      const stopping = first.stop();
      await reader.ended;
      await stopping;
      await second.call('POST', '/v1/projects', { key, body: { name: 'q', client_id: 'c' } });
      const again = await read(second.url, key, '', { 'last-event-id': String(reader.events[0].seq) });
      await until(() => again.events.length === 1);
      expect(again.events[0].data.name).toBe('q');
    },
  );

  test.skipIf(!postgres.available)(
    'a person is told what sort of record changed without an event, whichever process changed it, and a key is not',
    async () => {
      const variables = await postgres.make();
      const [first, second] = [await startServer(variables), await startServer(variables)];
      const key = variables.TRANCHE_API_KEY as string;
      const project = { name: 'p', client_id: 'c', milestones: [{ title: 'm', amount: 1 }] };
      const { id } = await first.ok('POST', '/v1/projects', { key, body: project });
      const [milestone] = (await first.ok('GET', `/v1/projects/${id}/milestones`, { key })).data;
      const cookie = await signUp(first.url, /setup_token=(\S+)/.exec(first.stdout())?.[1] as string);
      const [person, program] = [await read(second.url, null, '', { cookie }), await read(second.url, key)];
      await until(() => person.messages.length > 0 && program.messages.length > 0);
      await first.ok('PATCH', `/v1/milestones/${milestone.id}`, { key, body: { status: 'in_progress' } });
      await until(() => person.events.length > 0);
      expect(person.events).toEqual([{ resources: ['milestones'] }]);
      // With an event there is no hint, and the event is all that the key has been sent.
      await first.ok('PATCH', `/v1/milestones/${milestone.id}`, { key, body: { status: 'submitted' } });
      await until(() => program.events.length > 0 && person.events.length > 1);
      expect([program.events.length, program.events[0].type, person.events[1].type]).toEqual([
        1,
        'milestone.submitted',
        'milestone.submitted',
      ]);
      // What changed while nobody listened is not kept, so whoever comes back is told that anything may have.
      const back = await read(second.url, null, '', { cookie, 'last-event-id': String(person.events[1].seq) });
      await until(() => back.events.length > 0);
      expect(back.events[0].resources).toContain('milestones');
    },
  );
});

async function signUp(url: string, setup_token: string): Promise<string> {
  const person = { email: 'ada@example.com', password: 'a long enough passphrase', name: 'Ada', setup_token };
  const headers = { origin: url, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/account/sign_up`, { method: 'POST', headers, body: JSON.stringify(person) });
  expect(answer.status).toBe(201);
  return (answer.headers.getSetCookie()[0] as string).split(';', 1)[0] as string;
}
