// `tranche worker` beside `tranche serve` on one PostgreSQL: who delivers, what a kill or a stop costs, and that nobody stops unnoticed.
// Real processes, real receivers, real signals.

import { describe, expect, test } from 'vitest';
import { emptyPostgresDatabase } from './support/databases.ts';
import {
  dataDirectory,
  hasPostgres,
  postgresVariables,
  readMetrics,
  type ServerProcess,
  startServer,
  startWorkerProcess,
  tranche,
} from './support/server-process.ts';
import { openReceiver, type Receiver, until } from './support/webhook-fixtures.ts';

const makeVariables = async (): Promise<Record<string, string>> => postgresVariables(await emptyPostgresDatabase());

async function subscribe(server: ServerProcess, receivers: readonly Receiver[], fields: object = {}): Promise<string[]> {
  const made = [];
  for (const { url } of receivers) made.push(await server.ok('POST', '/v1/webhook_endpoints', { body: { url, ...fields } }));
  return made.map((endpoint) => endpoint.id);
}

async function makeProjects(server: ServerProcess, count: number): Promise<void> {
  for (let done = 0; done < count; done += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, count - done) }, () =>
        server.ok('POST', '/v1/projects', { body: { name: 'Website', client_id: 'acme' } }),
      ),
    );
}

const ids = ({ received }: Receiver): Set<unknown> => new Set(received.map(({ headers }) => headers['webhook-id']));

async function attempts({ url }: { url: string }): Promise<number> {
  const samples = await readMetrics(url);
  let sum = 0;
  for (const [name, value] of samples) if (name.startsWith('tranche_webhook_attempts_total')) sum += value;
  return sum;
}

const statuses = async (server: ServerProcess, endpoint: string): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  const { data } = await server.ok('GET', `/v1/webhook_endpoints/${endpoint}/deliveries?limit=100`);
  for (const { status } of data) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe.skipIf(!hasPostgres)('workers beside a server (needs PostgreSQL)', () => {
  test('a server without a worker and two workers deliver everything; the server itself attempts nothing', async () => {
    const variables = await makeVariables();
    const server = await startServer({ ...variables, METRICS_PORT: '0' }, ['--no-worker']);
    expect(server.stdout()).toContain('delivered by workers only');
    const metrics = (/Metrics +(\S+)\/metrics/.exec(server.stdout()) as RegExpExecArray)[1] as string;
    const receivers = [await openReceiver(), await openReceiver(), await openReceiver()];
    const endpoints = await subscribe(server, receivers);
    const workers = await Promise.all([startWorkerProcess(variables), startWorkerProcess(variables)]);
    await makeProjects(server, 60);
    await until(() => receivers.every((receiver) => ids(receiver).size === 60));
    for (const endpoint of endpoints) await until(async () => (await statuses(server, endpoint)).succeeded === 60);
    expect(receivers.map(({ received }) => received.length)).toEqual([60, 60, 60]);
    expect((await attempts(workers[0])) + (await attempts(workers[1]))).toBe(180);
    expect(await attempts({ url: metrics })).toBe(0);
    const samples = await readMetrics(metrics);
    expect(samples.get('tranche_http_requests_total{operation="createProject",status="201"}')).toBe(60);
    expect([...samples.keys()].filter((name) => name.includes('worker_silence'))).toEqual([]);
    for (const worker of workers) {
      const seen = await readMetrics(worker.url);
      expect(seen.get('tranche_webhook_worker_silence_seconds')).toBeLessThan(10);
      expect(seen.get('tranche_webhook_worker_failing')).toBe(0);
      await expect.poll(async () => (await readMetrics(worker.url)).get('tranche_webhook_workers'), { timeout: 15_000 }).toBeGreaterThan(0);
      for (const path of ['/healthz', '/readyz']) expect((await fetch(worker.url + path)).status).toBe(200);
      expect(worker.stdout()).toMatch(/delivers webhooks, and serves no API[\s\S]*any address, private ones too/);
      const ended = await worker.stop();
      expect([ended.code, worker.log().filter((line) => line.level >= 40)]).toEqual([0, []]);
    }
    expect((await server.stop()).code).toBe(0);
  });

  test('when one worker is killed in the middle of its attempts, the other makes them again and goes on with the rest', async () => {
    const variables = await makeVariables();
    const server = await startServer(variables, ['--no-worker']);
    let isHanging = true;
    const receiver = await openReceiver((response) => void (isHanging || response.end()));
    const [endpoint] = await subscribe(server, [receiver]);
    const doomed = await startWorkerProcess(variables);
    await makeProjects(server, 20);
    await until(() => receiver.received.length > 0);
    isHanging = false;
    await doomed.kill9();
    const other = await startWorkerProcess(variables);
    await expect.poll(() => ids(receiver).size, { timeout: 80_000, interval: 50 }).toBe(20);
    await expect.poll(() => statuses(server, endpoint as string), { timeout: 20_000 }).toEqual({ succeeded: 20 });
    expect((await other.stop()).code).toBe(0);
  }, 150_000);

  test('SIGTERM lets a worker finish the attempts under way and claim no more; the next one does the rest', async () => {
    const variables = await makeVariables();
    const server = await startServer(variables, ['--no-worker']);
    const answers: (() => void)[] = [];
    const receiver = await openReceiver((response) => void answers.push(() => response.end()));
    const [endpoint] = await subscribe(server, [receiver]);
    const worker = await startWorkerProcess({ ...variables, WEBHOOK_CONCURRENCY: '2' });
    await makeProjects(server, 5);
    await until(() => answers.length > 0);
    worker.signal('SIGTERM');
    await until(() => worker.log().some(({ msg }) => String(msg).startsWith('stopping')));
    let hasEnded = false;
    void worker.ended.then(() => (hasEnded = true));
    // An attempt that had left already may arrive only now.
    await until(() => {
      for (const answer of answers) answer();
      return hasEnded;
    });
    expect((await worker.ended).code).toBe(0);
    const under = answers.length;
    expect(under).toBeLessThanOrEqual(2);
    expect(await statuses(server, endpoint as string)).toEqual({ succeeded: under, pending: 5 - under });
    const next = await startWorkerProcess(variables);
    await until(() => {
      for (const answer of answers) answer();
      return answers.length === 5;
    });
    await until(async () => (await statuses(server, endpoint as string)).succeeded === 5);
    expect(receiver.received.map(({ headers }) => headers['tranche-attempt'])).toEqual(Array(5).fill('1'));
    expect((await next.stop()).code).toBe(0);
  });

  test('where nobody delivers, the server goes on serving, but says so in its log and at /readyz until somebody does', async () => {
    const variables = { ...(await makeVariables()), WEBHOOK_LATE_AFTER_SECONDS: '1' };
    const server = await startServer({ ...variables, WEBHOOK_WORKER: 'off' });
    const receiver = await openReceiver();
    const [endpoint] = await subscribe(server, [receiver]);
    const worker = await startWorkerProcess(variables);
    await makeProjects(server, 1);
    await until(() => receiver.received.length === 1);
    await until(async () => (await statuses(server, endpoint as string)).succeeded === 1);
    // Stopped as if its machine hung: it holds its connections and says nothing.
    worker.signal('SIGSTOP');
    await makeProjects(server, 3);
    const ready = async (): Promise<unknown> => {
      const answer = await server.call('GET', '/readyz');
      return [answer.status, answer.body.status];
    };
    await expect.poll(ready, { timeout: 40_000, interval: 200 }).toEqual([200, 'degraded']);
    expect(server.log().filter(({ msg }) => String(msg).startsWith('webhooks are late'))).toHaveLength(1);
    expect((await server.call('GET', '/healthz')).status).toBe(200);
    worker.signal('SIGCONT');
    await until(() => ids(receiver).size === 4);
    await expect.poll(ready, { timeout: 40_000, interval: 200 }).toEqual([200, 'ready']);
    expect((await worker.stop()).code).toBe(0);
  });

  test('a worker that is not told otherwise sends to public addresses only, whatever its HOST', async () => {
    const variables = await makeVariables();
    const server = await startServer(variables, ['--no-worker']);
    const receiver = await openReceiver();
    const [endpoint] = await subscribe(server, [receiver]);
    const worker = await startWorkerProcess({ ...variables, WEBHOOK_NETWORK: '', HOST: '127.0.0.1' });
    expect(worker.stdout()).toContain('public addresses only');
    await makeProjects(server, 1);
    const deliveries = `/v1/webhook_endpoints/${endpoint}/deliveries`;
    await expect.poll(async () => (await server.ok('GET', deliveries)).data[0]?.attempts, { timeout: 20_000 }).toBeGreaterThan(0);
    const [{ id }] = (await server.ok('GET', deliveries)).data;
    expect((await server.ok('GET', `/v1/deliveries/${id}/attempts`)).data[0].error_kind).toBe('blocked_address');
    expect(receiver.received).toEqual([]);
    expect((await worker.stop()).code).toBe(0);
  });

  test('a port that is taken and a setting that is wrong are said in words, and nothing is left behind', async () => {
    const variables = await makeVariables();
    const worker = await startWorkerProcess(variables);
    const { port } = new URL(worker.url);
    const refused = await tranche(['worker'], { ...variables, METRICS_PORT: port });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`METRICS_PORT ${port} is in use`)]);
    expect((await worker.stop()).code).toBe(0);
  });
});

test('the embedded database has no workers: both ways to ask for one are refused, with the reason', async () => {
  const variables = { DATA_DIR: await dataDirectory() };
  const worker = await tranche(['worker'], variables);
  expect([worker.code, worker.stderr]).toEqual([1, expect.stringMatching(/worker needs PostgreSQL/)]);
  const server = await tranche(['serve', '--no-worker'], { ...variables, PORT: '0' });
  expect([server.code, server.stderr]).toEqual([1, expect.stringMatching(/--no-worker\s+need\s+PostgreSQL/)]);
});
