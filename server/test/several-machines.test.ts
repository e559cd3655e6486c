// Three servers on machines of their own and one PostgreSQL, with nothing else between them: what one promises, the others keep, while
// some are killed and started. Real processes; on separate networks where the system lets a test make them.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { emptyPostgresDatabase } from './support/databases.ts';
import { type Machine, machineKind, makeMachines } from './support/machines.ts';
import { minuteWith, openStream } from './support/requests.ts';
import { type Answer, hasPostgres, postgresVariables, type Sent, type ServerProcess, tranche } from './support/server-process.ts';
import { type Asked, Load, randomFrom, readBooks } from './support/story-load.ts';
import { until } from './support/webhook-fixtures.ts';

interface Three {
  readonly variables: Record<string, string>;
  readonly machines: readonly Machine[];
  readonly servers: [ServerProcess, ServerProcess, ServerProcess];
}

async function startThree(more: Record<string, string> = {}): Promise<Three> {
  const variables = { ...postgresVariables(await emptyPostgresDatabase()), ...more };
  const machines = await makeMachines(3);
  const servers = (await Promise.all(machines.map((machine) => machine.start(variables)))) as Three['servers'];
  return { variables, machines, servers };
}

describe.skipIf(!hasPostgres)(`three ${machineKind} on one PostgreSQL`, () => {
  test('never admit more than the limit of a key together, and give all of it to whoever asks', async () => {
    const limit = 240;
    const { servers } = await startThree({ RATE_LIMIT_PER_MINUTE: String(limit) });
    const [{ secret: shared }, { secret: single }] = await Promise.all(
      [0, 1].map(() => servers[0].ok('POST', '/v1/api_keys', { body: { name: 'k', scopes: ['projects:read'] } })),
    );
    const ask = (server: ServerProcess, key: string): Promise<Answer> => server.call('GET', '/v1/projects?limit=1', { key });

    await minuteWith(25);
    const minute = Math.floor(Date.now() / 60_000);
    let admitted = 0;
    // Each is asked until it refuses, so that nothing is left in anybody's hands.
    await Promise.all(
      servers.map(async (server) => {
        for (let refused = 0; refused < 3; ) {
          const answers = await Promise.all(Array.from({ length: 5 }, () => ask(server, shared)));
          admitted += answers.filter(({ status }) => status === 200).length;
          const late = answers.filter(({ status }) => status !== 200);
          for (const { status, body } of late) expect([status, body.code]).toEqual([429, 'rate_limited']);
          if (late.length > 0) refused += 1;
        }
      }),
    );
    const alone: number[] = [];
    for (let asked = 0; asked < limit + 30; asked += 30)
      alone.push(...(await Promise.all(Array.from({ length: 30 }, () => ask(servers[1], single)))).map(({ status }) => status));
    expect(Math.floor(Date.now() / 60_000), 'the minute ended before the test did').toBe(minute);
    expect(admitted).toBe(limit);
    expect([alone.filter((status) => status === 200).length, alone.filter((status) => status === 429).length]).toEqual([limit, 30]);
  });

  test('one idempotency key sent to all three at once has one effect and one answer (I-13)', async () => {
    const { servers } = await startThree();
    for (let i = 0; i < 15; i += 1) {
      const sent: Sent = { body: { name: 'p', client_id: `c${i}` }, idempotencyKey: randomUUID() };
      const answers = await Promise.all([...servers, ...servers].map((server) => server.call('POST', '/v1/projects', sent)));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(5);
    }
    expect((await servers[2].ok('GET', '/v1/projects?limit=100')).data).toHaveLength(15);
    expect((await servers[1].ok('GET', '/v1/events?limit=100')).data).toHaveLength(15);
  });

  test('events and invoices have no gap and no double while servers are killed and started in the middle of writes (I-4, I-5)', async () => {
    const { variables, machines, servers } = await startThree();
    const places = servers.map((server) => ({ server: Promise.resolve(server) }));
    const asked = places.map(
      (place): Asked => ({
        call: async (...words) => (await place.server).call(...words),
        ok: async (...words) => (await place.server).ok(...words),
      }),
    );
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(11));
    const running = load.run(asked, 12);
    for (const at of [0, 1, 2, 0]) {
      const enough = load.answered + 80;
      await until(() => load.answered >= enough);
      const place = places[at] as (typeof places)[number];
      const old = await place.server;
      // From here on its clients wait for the next one; what was under way goes unanswered.
      place.server = old.kill9().then(() => (machines[at] as Machine).start(variables));
      await place.server;
    }
    const enough = load.answered + 80;
    await until(() => load.answered >= enough);
    load.stop();
    await running;
    expect(load.unexpected).toEqual([]);
    load.check(await readBooks(asked[0] as Asked));
    await load.settle(asked[1] as Asked);
    load.check(await readBooks(asked[2] as Asked));
    expect((await tranche(['verify'], variables)).code).toBe(0);
  });

  test('a stream hears on one what another commits, and goes on at the third where the first was killed (I-27)', async () => {
    const { variables, servers } = await startThree();
    const [a, b, c] = servers;
    const key = variables.TRANCHE_API_KEY as string;
    const write = (server: ServerProcess) => server.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    const reader = await openStream(a.url, key, '?after_seq=0');
    for (let i = 0; i < 5; i += 1) await write(b);
    await until(() => reader.events.length === 5);
    const writing = (async () => {
      for (let i = 0; i < 40; i += 1) await write(i % 2 === 0 ? b : c);
    })();
    await until(() => reader.events.length >= 10);
    await a.kill9();
    await expect(reader.ended).rejects.toThrow();
    const resumed = await openStream(c.url, key, '', { 'last-event-id': String(reader.events.at(-1).seq) });
    await writing;
    await until(() => reader.events.length + resumed.events.length >= 45);
    expect([...reader.events, ...resumed.events].map(({ seq }) => seq)).toEqual(Array.from({ length: 45 }, (_, i) => i + 1));
  });

  test('a key revoked on one writes nothing on the others from that moment, and reads nothing after a second (I-12)', async () => {
    const [a, b, c] = (await startThree()).servers;
    for (let i = 0; i < 3; i += 1) {
      const body = { name: 'k', scopes: ['projects:read', 'projects:write', 'events:read'] };
      const { id, secret: key } = await a.ok('POST', '/v1/api_keys', { body });
      const write = (server: ServerProcess) => server.call('POST', '/v1/projects', { key, body: { name: 'p', client_id: 'c' } });
      const read = (server: ServerProcess) => server.call('GET', '/v1/projects?limit=1', { key });
      // So that both have it in their cache, and a stream is open.
      for (const server of [b, c]) expect([(await write(server)).status, (await read(server)).status]).toEqual([201, 200]);
      const stream = await openStream(c.url, key);
      await a.ok('DELETE', `/v1/api_keys/${id}`);
      const revokedAt = performance.now();
      const written = await Promise.all([b, c].map(write));
      expect(written.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([401, 'api_key_revoked']));
      await Promise.all([b, c].map((server) => until(async () => (await read(server)).status === 401)));
      await stream.ended;
      expect(performance.now() - revokedAt).toBeLessThan(1_000);
    }
  });
});
