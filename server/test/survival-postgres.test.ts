// What the service does when its PostgreSQL goes away: a connection cut at COMMIT, a restart in the middle of load. Every answer stays true.
// A real serving process, which is not restarted; its wire to the database is cut, or its database stopped.

import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyPostgresDatabase, startPostgres } from './support/databases.ts';
import { hasPostgres, postgresVariables, type ServerProcess, startServer, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { type Fault, openProxy } from './support/tcp-proxy.ts';
import { until } from './support/webhook-fixtures.ts';

/** The log of a process that stayed in order: JSON lines, nothing fatal, no defect, no rejection that nobody handled. */
function expectSoundLog(server: ServerProcess): void {
  for (const line of server.log()) expect([line.level < 60, line.msg !== 'a request failed'], JSON.stringify(line)).toEqual([true, true]);
  expect(server.stderr()).not.toMatch(/unhandled|uncaught|internal_error/i);
}

describe.skipIf(!hasPostgres)('a connection to PostgreSQL that is cut at COMMIT, under the whole service', () => {
  test.each<Fault>([
    'after commit',
    'before commit',
    'before commit, unnoticed',
  ])('%s: the client hears the truth, and a repetition settles it', async (fault) => {
    const direct = await emptyPostgresDatabase();
    const proxy = await openProxy(Number(new URL(direct).port));
    onTestFinished(() => proxy.close());
    const through = new URL(direct);
    through.port = String(proxy.port);
    const variables: Record<string, string> = { ...postgresVariables(through.href), DATABASE_DIRECT_URL: direct };
    const server = await startServer(variables);

    for (let i = 0; i < 5; i++) {
      const idempotencyKey = randomUUID();
      const body = { name: 'p', client_id: `single_${i}`, milestones: [{ title: 'm', amount: 5 }] };
      const found = async () => (await server.ok('GET', `/v1/projects?client_id=single_${i}`)).data;
      const cut = proxy.cutNextCommit(fault);
      const answer = await server.call('POST', '/v1/projects', { body, idempotencyKey });
      await cut;
      if (answer.status === 503) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        if (!answer.text.includes('the outcome is unknown')) expect(await found()).toEqual([]);
      } else {
        expect(answer.status).toBe(201);
        expect(await found()).toHaveLength(1);
      }
      const again = await server.call('POST', '/v1/projects', { body, idempotencyKey });
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, answer.status === 201 ? 'true' : null]);
      expect((await found()).map((project: { id: string }) => project.id)).toEqual([again.body.id]);
    }

    // And in the middle of load, with batches of many.
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(1));
    const running = load.run([server], 12);
    for (let i = 1; i <= 5; i++) {
      const enough = load.answered + 30;
      await until(() => load.answered >= enough);
      await proxy.cutNextCommit(fault);
    }
    const enough = load.answered + 30;
    await until(() => load.answered >= enough);
    load.stop();
    await running;
    expect(load.refusedWithRetryAfter).toBe(load.refused);
    load.check(await readBooks(server), 5);
    await load.settle(server);
    load.check(await readBooks(server), 5);
    expectSoundLog(server);
    expect((await server.stop()).code).toBe(0);
    expect((await tranche(['verify'], variables)).code).toBe(0);
  });
});

describe.skipIf(!hasPostgres)('PostgreSQL that restarts in the middle of load', () => {
  test('is answered with 2xx or 503 and Retry-After meanwhile, and afterwards everything works without a restart of the service', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    const variables = postgresVariables(postgres.url);
    const server = await startServer(variables);
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(2));
    const running = load.run([server], 12);
    for (const mode of ['fast', 'immediate'] as const) {
      const enough = load.answered + 60;
      await until(() => load.answered >= enough);
      await postgres.stop(mode);
      // A write that was at its COMMIT waits some seconds for the truth, so a read is asked.
      const read = await server.call('GET', '/v1/projects');
      expect([read.status, read.body.code, Number(read.headers.get('retry-after')) >= 1]).toEqual([503, 'overloaded', true]);
      expect((await server.call('GET', '/healthz')).status).toBe(200);
      expect((await server.call('GET', '/readyz')).status).toBe(503);
      await postgres.start();
    }
    const enough = load.answered + 60;
    await until(() => load.answered >= enough);
    load.stop();
    await running;
    expect(load.unexpected).toEqual([]);
    expect(load.refusedWithRetryAfter).toBe(load.refused);
    load.check(await readBooks(server));
    await load.settle(server);
    const books = await readBooks(server);
    load.check(books);
    expect(books.payments).toHaveLength(load.stories.filter((story) => story.steps[0]?.answer).length);
    await until(async () => (await server.call('GET', '/readyz')).status === 200);
    expectSoundLog(server);
    expect((await tranche(['verify'], variables)).code).toBe(0);
    expect((await server.stop()).code).toBe(0);
  });

  test('and is gone when the service is told to stop: it stops all the same', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    const server = await startServer(postgresVariables(postgres.url));
    await server.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    await postgres.stop('fast');
    const begun = performance.now();
    const ended = await server.stop();
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});
