// What a process tells its operators: metrics on a port or with a token of their own, health, and nothing that is nobody's business.
// The whole service on the embedded database; the port of its own is a real one.

import { describe, expect, onTestFinished, test } from 'vitest';
import { listenForOperator } from '../src/operations/operator-server.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { readMetrics } from './support/server-process.ts';
import { openReceiver, until } from './support/webhook-fixtures.ts';

const TOKEN = 'metrics-token-of-forty-visible-characters';

async function openApp(environment: Record<string, string>, deliver = false): Promise<TestApp> {
  const app = await openTestApp({ environment, deliver });
  onTestFinished(() => app.stop());
  return app;
}

/** Where its port for operators is. */
async function operatorsOf(app: TestApp): Promise<string> {
  const server = await app.service.operating.listen();
  if (server === null) throw new Error('It has no port for operators.');
  return `http://${server.host}:${server.port}`;
}

describe('the port for operators', () => {
  test('counts requests, batches and attempts, and tells of the queue, the database and the process', async () => {
    const app = await openApp({ METRICS_PORT: '0' }, true);
    const url = await operatorsOf(app);
    const [good, bad] = [await openReceiver(), await openReceiver((response) => void response.writeHead(503).end())];
    for (const receiver of [good, bad]) await app.ok('POST', '/v1/webhook_endpoints', { body: { url: receiver.url } });
    for (let i = 0; i < 3; i += 1) await app.ok('POST', '/v1/projects', { body: { name: 'Website', client_id: 'acme' } });
    await app.call('GET', '/v1/projects/prj_nothing');
    await app.call('GET', '/nothing');
    await until(() => good.received.length === 3 && bad.received.length === 3);
    const read = (): Promise<Map<string, number>> => readMetrics(url);
    await until(async () => (await read()).get('tranche_webhook_attempts_total{outcome="http_5xx"}') === 3);
    const samples = await read();
    const shown = {
      'tranche_http_requests_total{operation="createProject",status="201"}': 3,
      'tranche_http_requests_total{operation="createWebhookEndpoint",status="201"}': 2,
      'tranche_http_requests_total{operation="getProject",status="404"}': 1,
      'tranche_http_requests_total{operation="unmatched",status="404"}': 1,
      'tranche_http_request_duration_seconds_count{operation="createProject"}': 3,
      'tranche_http_request_duration_seconds_bucket{operation="createProject",le="+Inf"}': 3,
      tranche_lane_batch_commands_sum: 5,
      tranche_lane_queued_commands: 0,
      'tranche_webhook_attempts_total{outcome="succeeded"}': 3,
      tranche_webhook_attempt_duration_seconds_count: 6,
      tranche_webhook_worker_failing: 0,
      tranche_database_listening: 1,
    };
    for (const [name, value] of Object.entries(shown)) expect([name, samples.get(name)]).toEqual([name, value]);
    // What the queue looks like is a few seconds old.
    await expect.poll(async () => (await read()).get('tranche_webhook_breakers{state="closed"}'), { timeout: 15_000 }).toBe(2);
    expect((await read()).get('tranche_webhook_deliveries_pending')).toBe(3);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect(samples.get('tranche_webhook_oldest_due_age_seconds')).toBeLessThan(60);
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeLessThan(30);
    for (const path of ['/healthz', '/readyz']) expect((await fetch(url + path)).status).toBe(200);
  });

  test('names no workspace, endpoint, key, address or secret', async () => {
    const app = await openApp({ METRICS_PORT: '0' }, true);
    const url = await operatorsOf(app);
    const receiver = await openReceiver();
    const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: receiver.url } });
    await app.ok('POST', '/v1/projects', { body: { name: 'Secret plan', client_id: 'acme-corp' } });
    await until(() => receiver.received.length === 1);
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const word of [app.workspaceId, app.key, endpoint.id, endpoint.secret, receiver.url, '127.0.0.1', 'acme-corp', 'Secret plan'])
      expect(text).not.toContain(word);
    expect(text).not.toMatch(/[a-z]{3}_[0-9a-z]{26}|whsec_|tr_live_/);
  });

  test('answers three paths, GET and HEAD, and asks for the token where there is one', async () => {
    const app = await openApp({ METRICS_PORT: '0', METRICS_TOKEN: TOKEN });
    const url = await operatorsOf(app);
    const status = async (path: string, init: RequestInit = {}): Promise<number> => (await fetch(url + path, init)).status;
    expect(await status('/metrics')).toBe(401);
    expect(await status('/metrics', { headers: { authorization: `Bearer ${TOKEN}x` } })).toBe(401);
    expect(await status('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).toBe(200);
    expect(await status('/metrics', { method: 'HEAD', headers: { authorization: `Bearer ${TOKEN}` } })).toBe(200);
    expect(await status('/healthz')).toBe(200);
    expect(await status('/healthz', { method: 'POST' })).toBe(405);
    expect(await status('/v1/projects')).toBe(404);
    // Here it has its own port, and so none on the main one.
    expect((await app.call('GET', '/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(404);
  });

  test('a port that is taken is refused, and a server that is closed lets go of it', async () => {
    const answers = { ...silentAnswers };
    const first = await listenForOperator(answers.listener, '127.0.0.1', 0);
    await expect(listenForOperator(answers.listener, '127.0.0.1', first.port)).rejects.toThrow('EADDRINUSE');
    first.close();
    (await listenForOperator(answers.listener, '127.0.0.1', first.port)).close();
  });
});

const silentAnswers = { listener: (_request: unknown, response: { end(): void }): void => response.end() };

describe('metrics on the main port', () => {
  test('are off by default', async () => {
    const app = await openApp({});
    expect((await app.call('GET', '/metrics')).status).toBe(404);
  });

  test('are told to who has their token, and to nobody else; an API key is no such token, and the token no API key', async () => {
    const app = await openApp({ METRICS_TOKEN: TOKEN });
    const refused = await app.call('GET', '/metrics');
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer realm="tranche metrics"']);
    const told = await app.call('GET', '/metrics', { key: TOKEN });
    expect([told.status, told.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(told.text).toContain('tranche_build_info{version="0.0.0-test"');
    expect((await app.call('GET', '/v1/projects', { key: TOKEN })).status).toBe(401);
  });
});

describe('readiness', () => {
  test('says degraded, and goes on answering 200, when the oldest due webhook is late', async () => {
    const app = await openApp({ WEBHOOK_LATE_AFTER_SECONDS: '1', METRICS_PORT: '0', WEBHOOK_WORKER: 'off' }, true);
    const url = await operatorsOf(app);
    await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
    const ready = async (): Promise<unknown[]> => {
      const answer = await app.call('GET', '/readyz');
      return [answer.status, answer.body.status];
    };
    expect(await ready()).toEqual([200, 'ready']);
    // As a worker would have left it a minute ago.
    await app.database.query(`insert into events (workspace_id, seq, id, type, body, hash, created_at)
      select workspace_id, 1000, id, 'project.created', '{}', '', now() from webhook_endpoints`);
    await app.database.query(`insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, next_attempt_at, created_at)
      select workspace_id, id, id, 1000, 'pending', now() - interval '1 minute', now() from webhook_endpoints`);
    await expect.poll(ready, { timeout: 20_000 }).toEqual([200, 'degraded']);
    const { detail } = (await app.call('GET', '/readyz')).body;
    expect(detail).toMatch(
      /^the webhook that has been due for longest has waited 6\d s; 1 of 1 endpoints with some due are late, \d+ events wait for fan-out$/,
    );
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'degraded' });
    expect((await readMetrics(url)).get('tranche_webhook_late_endpoints')).toBe(1);
  });
});
