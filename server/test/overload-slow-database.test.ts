// A database that has become slow: what is let in is answered in bounded time, and the rest hears 503 at once.
// Real processes with a slow wire between them. Bounds are those of the wire, not of the machine.

import { describe, expect, onTestFinished, test } from 'vitest';
import { fireOpen, type OpenLoad } from '../../bench/open-loop.ts';
import { emptyPostgresDatabase } from './support/databases.ts';
import { hasPostgres, places, postgresVariables, type ServerProcess, startServer } from './support/server-process.ts';
import { openProxy, type TcpProxy } from './support/tcp-proxy.ts';

/** Of every answer of the database: by far the most of what anything takes here. */
const SLOW_MS = 250;
const reason = places.find(({ name }) => name === 'PostgreSQL')?.reason;

interface Setting {
  readonly server: ServerProcess;
  readonly proxy: TcpProxy;
  readonly key: string;
  fire(load: Omit<OpenLoad, 'port' | 'once'>): ReturnType<typeof fireOpen>;
}

async function begin(): Promise<Setting> {
  const url = new URL(await emptyPostgresDatabase());
  const proxy = await openProxy(Number(url.port));
  onTestFinished(() => proxy.close());
  url.port = String(proxy.port);
  const variables = postgresVariables(url.href);
  const server = await startServer({
    ...variables,
    METRICS_PORT: '0',
    LANES: '1',
    OVERLOAD_WAIT_MS: '100',
    RATE_LIMIT_PER_MINUTE: '10000000',
  });
  const fire: Setting['fire'] = (load) => fireOpen({ port: server.port, once: false, ...load });
  return { server, proxy, key: variables.TRANCHE_API_KEY as string, fire };
}

/** Every kind of answer is accounted for: nothing broke, hung or failed. */
const odd = ({ otherStatuses, broken, timedOut, unsent }: Awaited<ReturnType<typeof fireOpen>>) => ({
  otherStatuses,
  broken,
  timedOut,
  unsent,
});
const nothingOdd = { otherStatuses: {}, broken: 0, timedOut: 0, unsent: 0 };

describe.skipIf(!hasPostgres)(`when the database is slow${hasPostgres ? '' : ` (skipped: ${reason})`}`, () => {
  test('reads that are let in do not wait in a growing line, and the others hear 503 within milliseconds', async () => {
    const { server, proxy, key, fire } = await begin();
    const { id } = await server.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    proxy.delayAnswers(SLOW_MS);
    const shots = [{ method: 'GET', path: `/v1/projects/${id}`, key }];
    const measure = await fire({ shots, perSecond: 400, seconds: 4, warmUpSeconds: 3, connections: 600 });
    expect(odd(measure)).toEqual(nothingOdd);
    // Six connections hold a quarter of a second each: far less than is asked for.
    expect(measure.refused).toBeGreaterThan(200);
    expect(measure.succeeded).toBeGreaterThan(30);
    expect(measure.refusedWithoutRetryAfter).toBe(0);
    expect(measure.refusalServedMs.p50Ms).toBeLessThan(SLOW_MS / 10);
    // The look-up of the key, the wait that was foreseen, the read itself.
    expect(measure.successServedMs.p99Ms).toBeLessThan(6 * SLOW_MS);
    // The server is well all the while, and says what it does.
    expect((await server.call('GET', '/healthz')).status).toBe(200);
    expect(server.log().filter(({ msg }) => msg.startsWith('overloaded')).length).toBeGreaterThanOrEqual(1);
    expect(server.log().length).toBeLessThan(40);
    // And it recovers by itself.
    proxy.delayAnswers(0);
    const after = await fire({ shots, perSecond: 100, seconds: 1, warmUpSeconds: 2, connections: 50 });
    expect([odd(after), after.refused]).toEqual([nothingOdd, 0]);
  });

  test('writes that are let in wait for two batches at most, and the others hear 503 within milliseconds', async () => {
    const { proxy, key, fire } = await begin();
    proxy.delayAnswers(SLOW_MS);
    const shots = [{ method: 'POST', path: '/v1/projects', key, body: '{"name":"p","client_id":"c"}' }];
    const measure = await fire({ shots, perSecond: 1_000, seconds: 4, warmUpSeconds: 3, connections: 1_000 });
    expect(odd(measure)).toEqual(nothingOdd);
    expect(measure.refused).toBeGreaterThan(400);
    expect(measure.refusedWithoutRetryAfter).toBe(0);
    expect(measure.refusalServedMs.p50Ms).toBeLessThan(SLOW_MS / 5);
    // Batches stay full: 256 for every two round trips, or nearly so.
    expect(measure.goodPerSecond).toBeGreaterThan(200);
    expect(measure.successServedMs.p99Ms).toBeLessThan(10 * SLOW_MS);
  });
});
