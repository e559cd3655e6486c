// Weeks of failures in seconds: the whole service on a clock that leaps from one due moment to the next, and receivers that are functions.
// Every run prints its seed; what is documented of schedule, breaker, disabling and recovery must come out.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ownEnvelope } from '../src/commands/command.ts';
import { disableGoneEndpoint } from '../src/commands/update-webhook-endpoint.ts';
import { decodeId } from '../src/domain/ids.ts';
import type { WebhookEndpoint } from '../src/domain/webhook-endpoint.ts';
import type { GoneEndpoint } from '../src/webhooks/in-flight.ts';
import type { Send } from '../src/webhooks/safe-fetch.ts';
import { attemptDelaysMs, JITTER } from '../src/webhooks/schedule.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { startWorker, type TestWorker } from './support/webhook-fixtures.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What a pass takes in real time, by which the running clock is past a moment it leapt to. */
const SLACK_MS = 5 * SECOND_MS;
const MAX_LEAPS = 2_000;

/** Of a receiver: the status it answers with `ms` after the start, null when it does not answer. */
type Behaviour = (ms: number, attempt: { readonly seq: number; readonly number: number }) => number | null;

interface Attempt {
  readonly host: string;
  readonly ms: number;
  readonly seq: number;
  readonly number: number;
  readonly body: string;
}

/** Numbers that look random and are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

class World {
  readonly app: TestApp;
  readonly attempts: Attempt[] = [];
  readonly receivers = new Map<string, Behaviour>();
  #worker: TestWorker | undefined;
  #startedAt = 0;

  constructor(app: TestApp) {
    this.app = app;
  }

  async begin(): Promise<void> {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    console.log(`seed ${seed}`);
    const send: Send = async ({ url, headers, body }) => {
      const attempt = {
        host: new URL(url).host,
        ms: this.ms,
        seq: Number(headers['Tranche-Seq']),
        number: Number(headers['Tranche-Attempt']),
        body,
      };
      this.attempts.push(attempt);
      const statusCode = this.receivers.get(attempt.host)?.(attempt.ms, attempt) ?? null;
      if (statusCode === null) return { kind: 'failed', error: 'dns_not_found', detail: 'no such host', remoteAddress: null };
      return { kind: 'answered', statusCode, retryAfter: null, headers: {}, body: '', truncated: false, remoteAddress: '192.0.2.1' };
    };
    const { store, database } = this.app;
    this.#worker = await startWorker(database, {
      cipher: store.cipher,
      send,
      random: seeded(seed),
      careMs: HOUR_MS,
      disableEndpoint: async ({ workspaceId, endpointId, ...gone }: GoneEndpoint) => {
        const envelope = ownEnvelope<WebhookEndpoint>(workspaceId, () => ({ status: 200, headers: {}, body: '' }));
        await store.lane.submit(disableGoneEndpoint(envelope, endpointId, gone));
      },
    });
    this.#startedAt = this.#worker.now().getTime();
  }

  get #running(): TestWorker {
    if (this.#worker === undefined) throw new Error('The world has not begun.');
    return this.#worker;
  }

  get ms(): number {
    return this.#running.now().getTime() - this.#startedAt;
  }

  async addEndpoint(host: string, behaviour: Behaviour, fields: Record<string, unknown> = {}): Promise<string> {
    this.receivers.set(host, behaviour);
    return (await this.app.ok('POST', '/v1/webhook_endpoints', { body: { url: `https://${host}/hook`, ...fields } })).id;
  }

  async happen(): Promise<void> {
    await this.app.ok('POST', '/v1/projects', { body: { name: 'Simulated', client_id: 'client' } });
  }

  /** Lets time pass, leaping from one due moment to the next. */
  async passUntil(ms: number): Promise<void> {
    for (let leaps = 0; leaps < MAX_LEAPS; leaps += 1) {
      await this.#running.idle();
      const now = this.#running.now();
      const rows = await this.app.database.query<{ at: Date | null }>(
        `select min(at) as at from (
           select next_attempt_at as at from deliveries where status = 'pending' and is_repeat
           union all select probe_at from webhook_flows where breaker = 'open'
           union all select resume_at from webhook_flows) m where at > $1`,
        [now],
      );
      const next = Math.min(ms, (rows[0]?.at?.getTime() ?? Number.POSITIVE_INFINITY) - this.#startedAt);
      if (next > this.ms) this.#running.advance(next - this.ms);
      if (this.ms >= ms) return this.#running.idle();
    }
    throw new Error(`more than ${MAX_LEAPS} leaps: somebody is sent to without end`);
  }

  of(host: string): Attempt[] {
    return this.attempts.filter((attempt) => attempt.host === host);
  }

  endpoint(id: string): Promise<Record<string, unknown>> {
    return this.app.ok('GET', `/v1/webhook_endpoints/${id}`);
  }

  async statuses(id: string): Promise<Record<string, number>> {
    const rows = await this.app.database.query<{ status: string; n: number }>(
      'select status, count(*)::integer as n from deliveries where endpoint_id = $1 group by status order by status',
      [decodeId('webhook_endpoint', id)],
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  }
}

describe('weeks of failures', () => {
  let world: World;
  beforeAll(async () => {
    world = new World(await openTestApp());
  });
  afterAll(() => world.app.stop());

  test('one event that nobody can be told of is tried by the schedule, ten times in three days and a bit, and then it has failed', async () => {
    await world.begin();
    const id = await world.addEndpoint('down.example', () => null);
    await world.happen();
    await world.passUntil(14 * DAY_MS);
    const attempts = world.of('down.example');
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
    attempts.slice(1).forEach(({ ms }, i) => {
      const waited = ms - (attempts[i] as Attempt).ms;
      const scheduled = attemptDelaysMs[i + 1] as number;
      expect(waited).toBeGreaterThanOrEqual(scheduled * (1 - JITTER) - 1);
      expect(waited).toBeLessThanOrEqual(scheduled * (1 + JITTER) + SLACK_MS);
    });
    expect(await world.statuses(id)).toEqual({ failed: 1 });
    expect(await world.endpoint(id)).toMatchObject({ status: 'enabled', breaker: 'open', consecutive_failures: 10 });
  });

  test('two days down with an event every hour: few attempts meanwhile, then all are delivered and the breaker closes', async () => {
    await world.begin();
    const start = world.ms;
    const outageMs = 2 * DAY_MS;
    const id = await world.addEndpoint('outage.example', (ms) => (ms - start < outageMs ? 503 : 200));
    onTestFinished(() => world.app.ok('DELETE', `/v1/webhook_endpoints/${id}`));
    for (let hour = 0; hour < 48; hour += 1) {
      await world.happen();
      await world.passUntil(start + hour * HOUR_MS);
    }
    expect(await world.endpoint(id)).toMatchObject({
      breaker: 'open',
      failing_since: expect.any(String),
      next_probe_at: expect.any(String),
    });
    const during = world.of('outage.example').length;
    // Each event would have been tried six times or more by itself; a probe in five minutes at most bounds it whatever the number of events.
    expect(during).toBeLessThan(outageMs / (4 * MINUTE_MS));
    await world.passUntil(start + outageMs + 30 * HOUR_MS);
    expect(await world.statuses(id)).toEqual({ succeeded: 48 });
    expect(await world.endpoint(id)).toMatchObject({
      breaker: 'closed',
      failing_since: null,
      consecutive_failures: 0,
      next_probe_at: null,
    });
    // From the moment on that the receiver is back, each event is sent once and no more.
    const after = world.of('outage.example').filter(({ ms }) => ms - start >= outageMs);
    expect(after.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual([...new Set(after.map(({ seq }) => seq))].sort((a, b) => a - b));
    expect(after).toHaveLength(48);
  });

  test('down for good: after five days the endpoint is disabled, an event tells it to who asked, and nothing more is sent (I-25)', async () => {
    await world.begin();
    const start = world.ms;
    const id = await world.addEndpoint('gone.example', () => 500);
    const listener = await world.addEndpoint('listener.example', () => 200, { event_types: ['webhook_endpoint.disabled'] });
    for (let hours = 0; hours < 24 * 8; hours += 12) {
      await world.happen();
      await world.passUntil(start + hours * HOUR_MS);
    }
    const last = world.of('gone.example').at(-1) as Attempt;
    expect(last.ms - start).toBeGreaterThanOrEqual(5 * DAY_MS);
    expect(last.ms - start).toBeLessThan(5 * DAY_MS + 13 * HOUR_MS);
    const endpoint = await world.endpoint(id);
    expect(endpoint).toMatchObject({
      status: 'disabled',
      disabled_reason: `Every attempt since ${endpoint.failing_since} failed.`,
      disabled_cause: 'failing',
    });
    const statuses = await world.statuses(id);
    expect(statuses.pending).toBeUndefined();
    expect(statuses.cancelled).toBeGreaterThan(0);
    const told = world.of('listener.example').map(({ body }) => JSON.parse(body));
    expect(told).toEqual([
      {
        event: 'webhook_endpoint.disabled',
        data: { endpointId: id, url: 'https://gone.example/hook', reason: endpoint.disabled_reason, failingSince: endpoint.failing_since },
      },
    ]);
    expect(await world.statuses(listener)).toEqual({ succeeded: 1 });
    // Enabled again it begins unharmed, and is not disabled by the first failure.
    const sent = world.of('gone.example').length;
    expect(await world.app.ok('PATCH', `/v1/webhook_endpoints/${id}`, { body: { status: 'enabled' } })).toMatchObject({
      breaker: 'closed',
      failing_since: null,
    });
    await world.happen();
    await world.passUntil(world.ms + HOUR_MS);
    expect(world.of('gone.example').length).toBeGreaterThan(sent);
    expect(await world.endpoint(id)).toMatchObject({ status: 'enabled' });
    expect(await world.app.faults()).toEqual([]);
    await world.app.ok('DELETE', `/v1/webhook_endpoints/${id}`);
  });

  test('an endpoint that fails for one event of ten is never held back and never disabled', async () => {
    await world.begin();
    const start = world.ms;
    const id = await world.addEndpoint('picky.example', (_ms, { seq }) => (seq % 10 === 0 ? 400 : 200));
    onTestFinished(() => world.app.ok('DELETE', `/v1/webhook_endpoints/${id}`));
    for (let days = 0; days < 21; days += 0.5) {
      await world.happen();
      await world.passUntil(start + days * DAY_MS);
      expect(await world.endpoint(id)).toMatchObject({ status: 'enabled', breaker: 'closed' });
    }
    await world.passUntil(start + 30 * DAY_MS);
    const { succeeded = 0, failed = 0, ...others } = await world.statuses(id);
    expect(others).toEqual({});
    expect(succeeded + failed).toBe(42);
    expect(failed).toBeGreaterThanOrEqual(4);
  });
});
