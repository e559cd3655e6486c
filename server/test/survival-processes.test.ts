// Two serving processes on one PostgreSQL: what one promises, the other keeps. Sequences, idempotency, revocation and the rate limit.
// Real processes, each with its own caches, leases and lanes.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { emptyPostgresDatabase } from './support/databases.ts';
import { type Answer, hasPostgres, postgresVariables, type ServerProcess, startServer, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { until } from './support/webhook-fixtures.ts';

interface Pair {
  readonly variables: Record<string, string>;
  readonly one: ServerProcess;
  readonly two: ServerProcess;
}

async function startPair(more: Record<string, string> = {}): Promise<Pair> {
  const variables = { ...postgresVariables(await emptyPostgresDatabase()), ...more };
  // At once, so that they also migrate and set up beside each other.
  const [one, two] = await Promise.all([startServer(variables), startServer(variables)]);
  return { variables, one, two };
}

const nextMinute = (): Promise<void> => until(() => Math.floor(Date.now() / 1000) % 60 < 50).catch(() => undefined);

describe.skipIf(!hasPostgres)('two processes on one PostgreSQL', () => {
  test('write to the same workspace side by side without a gap, a double or a lost answer', async () => {
    const { variables, one, two } = await startPair();
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(3));
    const running = load.run([one, two], 16);
    await until(() => load.answered >= 400);
    load.stop();
    await running;
    expect([load.unexpected, load.refused]).toEqual([[], 0]);
    await load.settle(two);
    load.check(await readBooks(one));
    expect((await tranche(['verify'], variables)).code).toBe(0);
    for (const server of [one, two]) {
      const ended = await server.stop();
      expect(ended.code).toBe(0);
      expect(server.log().filter((line) => line.level >= 40)).toEqual([]);
    }
  });

  test('an idempotency key stands for one effect and one answer on both, even at the same moment', async () => {
    const { one, two } = await startPair();
    for (let i = 0; i < 20; i++) {
      const idempotencyKey = randomUUID();
      const body = { name: 'p', client_id: `c${i}` };
      const answers = await Promise.all(
        [one, two, one, two].map((server) => server.call('POST', '/v1/projects', { body, idempotencyKey })),
      );
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201, 201]);
      expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')).toHaveLength(3);
    }
    expect((await two.ok('GET', '/v1/projects?limit=100')).data).toHaveLength(20);
  });

  test('a key revoked at one writes nothing more at the other from that moment, and reads nothing after a second', async () => {
    const { one, two } = await startPair();
    for (let i = 0; i < 3; i++) {
      const { id, secret: key } = await one.ok('POST', '/v1/api_keys', {
        body: { name: 'k', scopes: ['projects:read', 'projects:write'] },
      });
      const write = (): Promise<Answer> => two.call('POST', '/v1/projects', { key, body: { name: 'p', client_id: 'c' } });
      // So that the other has it in its cache.
      expect([(await write()).status, (await two.call('GET', '/v1/projects', { key })).status]).toEqual([201, 200]);
      expect((await one.call('DELETE', `/v1/api_keys/${id}`)).status).toBeLessThan(300);
      const revokedAt = performance.now();
      const written = await write();
      expect([written.status, written.body.code]).toEqual([401, 'api_key_revoked']);
      await until(async () => (await two.call('GET', '/v1/projects', { key })).status === 401);
      expect(performance.now() - revokedAt).toBeLessThan(1_000);
    }
  });

  test('the rate limit holds for both together', async () => {
    const limit = 60;
    const { one, two } = await startPair({ RATE_LIMIT_PER_MINUTE: String(limit) });
    await nextMinute();
    const minuteOf = (answer: Answer): number => Math.floor(Date.parse(answer.headers.get('date') as string) / 60_000);
    const answers = await Promise.all(
      Array.from({ length: 3 * limit }, (_, i) => (i % 2 === 0 ? one : two).call('GET', '/v1/projects?limit=1')),
    );
    const admitted = answers.filter((answer) => answer.status === 200);
    const minutes = new Set(answers.map(minuteOf)).size;
    expect(admitted.length).toBeLessThanOrEqual(limit * minutes);
    // Leases that one process holds are not lost to the other for long: nearly all of the minute is given out.
    expect(admitted.length).toBeGreaterThanOrEqual(limit * 0.8);
    for (const answer of answers.filter((other) => other.status !== 200)) {
      expect([answer.status, answer.body.code]).toEqual([429, 'rate_limited']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  });
});
