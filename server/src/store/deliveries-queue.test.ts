// The queue against a real database: leases, fencing, fairness between endpoints, cancellation.
// Time is handed in; nothing is sent.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addEndpoint, addEvents, addWorkspace, newId, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import type { Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { Database } from './database.ts';
import {
  type ClaimedDelivery,
  type ClaimOptions,
  claimDue,
  type DeliveryResult,
  recordResults,
  releaseLeases,
} from './deliveries-queue.ts';
import { fanOut } from './fan-out.ts';

onEachDatabase('the queue of deliveries', (given, kind) => {
  let database: Database;
  beforeAll(() => {
    database = given();
  });
  afterEach(() => database.query(`update deliveries set status = 'cancelled', next_attempt_at = null where status = 'pending'`));

  const START = new Date('2026-01-01T00:00:00.000Z');
  const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);
  const claim = (options: Partial<ClaimOptions> = {}): Promise<ClaimedDelivery[]> =>
    claimDue(database, { limit: 100, perEndpoint: 100, inFlight: new Map(), leaseMs: 60_000, now: START, newToken: newId, ...options });

  /** An endpoint with as many pending deliveries, due since `dueAt`. */
  async function addBacklog(
    count: number,
    fields: Partial<WebhookEndpoint> = {},
    dueAt = START,
  ): Promise<{ workspace: Uuid; endpoint: Uuid }> {
    const workspace = await addWorkspace(database);
    const { id } = await addEndpoint(database, workspace, fields);
    await addEvents(database, workspace, Array(count).fill('project.created'));
    await fanOut(database, { workspaceIds: [workspace], limit: count + 1, newId, now: dueAt });
    return { workspace, endpoint: id };
  }

  const resultOf = (delivery: ClaimedDelivery, fields: Partial<DeliveryResult> = {}): DeliveryResult => ({
    workspaceId: delivery.workspaceId,
    deliveryId: delivery.id,
    leaseToken: delivery.leaseToken,
    status: 'succeeded',
    nextAttemptAt: null,
    startedAt: at(1),
    endedAt: at(3),
    statusCode: 200,
    error: null,
    responseBody: 'ok',
    ...fields,
  });

  const stateOf = async (delivery: { workspaceId: Uuid; id: Uuid }): Promise<Record<string, unknown> | undefined> =>
    (
      await database.query<Record<string, unknown>>(
        'select status, attempts, next_attempt_at, lease_token, completed_at from deliveries where workspace_id = $1 and id = $2',
        [delivery.workspaceId, delivery.id],
      )
    )[0];
  const attemptsOf = (delivery: { workspaceId: Uuid; id: Uuid }): Promise<unknown[]> =>
    database.query(
      'select number, started_at, duration_ms, status_code, error, response_body from delivery_attempts where workspace_id = $1 and delivery_id = $2 order by number',
      [delivery.workspaceId, delivery.id],
    );
  const one = (deliveries: readonly ClaimedDelivery[]): ClaimedDelivery => {
    expect(deliveries).toHaveLength(1);
    return deliveries[0] as ClaimedDelivery;
  };

  describe('claimDue', () => {
    test('gives what a sender needs, oldest due first, and each delivery once per lease', async () => {
      const { workspace, endpoint } = await addBacklog(2, { url: 'http://127.0.0.1:9/a' });
      const claimed = await claim();
      expect(claimed.map((delivery) => [delivery.eventSeq, delivery.previousSeq])).toEqual([
        [1, null],
        [2, 1],
      ]);
      expect(claimed[0]).toMatchObject({
        workspaceId: workspace,
        attempts: 0,
        dueAt: START,
        endpoint: { id: endpoint, url: 'http://127.0.0.1:9/a' },
      });
      expect(claimed[0]?.event).toMatchObject({
        type: 'project.created',
        body: '{"event":"project.created","data":{"n":1,"name":"Größe 📐"}}',
      });
      expect(claimed[0]?.endpoint.secrets).toEqual([{ sealed: expect.stringMatching(/^v1\./), expiresAt: null }]);
      expect(await claim()).toEqual([]);
      expect(await claim({ now: at(59) })).toEqual([]);
    });

    test('what was claimed and never settled is claimed again when the lease ends, as the same attempt', async () => {
      await addBacklog(1);
      const first = one(await claim());
      const again = one(await claim({ now: at(60) }));
      expect(again).toMatchObject({ id: first.id, attempts: 0, event: first.event });
      expect(again.leaseToken).not.toBe(first.leaseToken);
    });

    test('leases that are released are due at once, and under another lease', async () => {
      const { workspace } = await addBacklog(1);
      const first = one(await claim());
      expect(await releaseLeases(database, at(1))).toBe(1);
      const again = one(await claim({ now: at(1) }));
      expect(again).toMatchObject({ workspaceId: workspace, id: first.id, attempts: 0 });
      expect(again.leaseToken).not.toBe(first.leaseToken);
    });

    test('takes no more than its limit, and of one endpoint no more than its room', async () => {
      const first = await addBacklog(10, {}, at(-10));
      const second = await addBacklog(10, {}, at(-5));
      const count = (claimed: ClaimedDelivery[], endpoint: Uuid) => claimed.filter((delivery) => delivery.endpoint.id === endpoint).length;
      const claimed = await claim({ perEndpoint: 4 });
      expect([count(claimed, first.endpoint), count(claimed, second.endpoint)]).toEqual([4, 4]);
      const more = await claim({
        perEndpoint: 4,
        inFlight: new Map([
          [first.endpoint, 4],
          [second.endpoint, 1],
        ]),
      });
      expect([count(more, first.endpoint), count(more, second.endpoint)]).toEqual([0, 3]);
      const rest = await claim({ limit: 5 });
      expect([count(rest, first.endpoint), count(rest, second.endpoint)]).toEqual([3, 2]);
    });

    test('an endpoint with a huge backlog does not hide the deliveries of another', async () => {
      const huge = await addBacklog(1500, {}, at(-100));
      const small = await addBacklog(1);
      expect(one(await claim({ inFlight: new Map([[huge.endpoint, 8]]), perEndpoint: 8 })).endpoint.id).toBe(small.endpoint);
    });

    test('what is not due yet is left, also behind what is', async () => {
      const { workspace } = await addBacklog(2, {}, at(1));
      expect(await claim()).toEqual([]);
      await database.query('update deliveries set next_attempt_at = $2 where workspace_id = $1 and event_seq = 2', [workspace, at(2)]);
      expect(one(await claim({ now: at(1) })).eventSeq).toBe(1);
      expect(one(await claim({ now: at(2) })).eventSeq).toBe(2);
    });

    // The embedded database has one connection, so that nobody can hold a lock against another there.
    if (kind === 'PostgreSQL') {
      test('a delivery that another worker is claiming is passed by without waiting', async () => {
        const { workspace } = await addBacklog(2);
        await database.transaction(async (transaction) => {
          await transaction.query('select 1 from deliveries where workspace_id = $1 and event_seq = 1 for update', [workspace]);
          expect(one(await claim()).eventSeq).toBe(2);
        });
        expect(one(await claim()).eventSeq).toBe(1);
      });
    }

    test.each([
      ['disabled', { status: 'disabled' }],
      ['deleted', { deletedAt: START }],
    ] as const)('deliveries of an endpoint that was %s are cancelled, due or not, and never sent', async (_case, change) => {
      const { workspace, endpoint } = await addBacklog(3);
      await database.query('update deliveries set next_attempt_at = $2 where workspace_id = $1 and event_seq = 3', [workspace, at(3600)]);
      await database.query('update webhook_endpoints set status = $2, deleted_at = $3 where id = $1', [
        endpoint,
        'status' in change ? change.status : 'enabled',
        'deletedAt' in change ? change.deletedAt : null,
      ]);
      expect(await claim()).toEqual([]);
      const rows = await database.query('select distinct status, next_attempt_at, completed_at from deliveries where workspace_id = $1', [
        workspace,
      ]);
      expect(rows).toEqual([{ status: 'cancelled', next_attempt_at: null, completed_at: START }]);
    });

    test('an attempt under way when its endpoint is disabled is still recorded', async () => {
      const { endpoint } = await addBacklog(1);
      const delivery = one(await claim());
      await database.query(`update webhook_endpoints set status = 'disabled' where id = $1`, [endpoint]);
      expect(await claim()).toEqual([]);
      expect(await recordResults(database, [resultOf(delivery)])).toBe(1);
      expect(await stateOf(delivery)).toMatchObject({ status: 'succeeded' });
    });

    test('workers that claim at once share the work and never get the same delivery', async () => {
      await addBacklog(40);
      await addBacklog(40);
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim({ limit: 20 })));
      const rest: ClaimedDelivery[] = [];
      for (let more = await claim(); more.length > 0; more = await claim()) rest.push(...more);
      const ids = [...claims.flat(), ...rest].map((delivery) => delivery.id);
      expect(ids).toHaveLength(80);
      expect(new Set(ids).size).toBe(80);
    });
  });

  describe('recordResults', () => {
    test('writes the attempt and the status of many deliveries at once', async () => {
      await addBacklog(3);
      const [first, second, third] = (await claim()) as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
      const written = await recordResults(database, [
        resultOf(first),
        resultOf(second, { status: 'pending', nextAttemptAt: at(8), statusCode: null, error: 'timeout: no answer', responseBody: null }),
        resultOf(third, { status: 'failed', statusCode: 410, responseBody: 'gone "now"\n\\' }),
      ]);
      expect(written).toBe(3);
      expect(await stateOf(first)).toEqual({
        status: 'succeeded',
        attempts: 1,
        next_attempt_at: null,
        lease_token: null,
        completed_at: at(3),
      });
      expect(await stateOf(second)).toEqual({
        status: 'pending',
        attempts: 1,
        next_attempt_at: at(8),
        lease_token: null,
        completed_at: null,
      });
      expect(await stateOf(third)).toEqual({
        status: 'failed',
        attempts: 1,
        next_attempt_at: null,
        lease_token: null,
        completed_at: at(3),
      });
      const attempt = { number: 1, started_at: at(1), duration_ms: 2000, status_code: 200, error: null, response_body: 'ok' };
      expect(await attemptsOf(first)).toEqual([attempt]);
      expect(await attemptsOf(second)).toEqual([{ ...attempt, status_code: null, error: 'timeout: no answer', response_body: null }]);
      expect(await attemptsOf(third)).toEqual([{ ...attempt, status_code: 410, response_body: 'gone "now"\n\\' }]);
    });

    test('a retry is numbered on and is due when its result said', async () => {
      await addBacklog(1);
      const first = one(await claim());
      await recordResults(database, [resultOf(first, { status: 'pending', nextAttemptAt: at(8), statusCode: 500 })]);
      expect(await claim({ now: at(7) })).toEqual([]);
      const second = one(await claim({ now: at(8) }));
      expect(second).toMatchObject({ id: first.id, attempts: 1, dueAt: at(8) });
      await recordResults(database, [resultOf(second)]);
      expect(await attemptsOf(first)).toMatchObject([
        { number: 1, status_code: 500 },
        { number: 2, status_code: 200 },
      ]);
    });

    test('a worker that comes late writes nothing, neither before nor after the result of the one that took over', async () => {
      await addBacklog(1);
      const late = one(await claim());
      const current = one(await claim({ now: at(60) }));
      expect(await recordResults(database, [resultOf(late, { status: 'failed', statusCode: 500 })])).toBe(0);
      expect(await stateOf(late)).toMatchObject({ status: 'pending', attempts: 0, lease_token: current.leaseToken });
      expect(await recordResults(database, [resultOf(current)])).toBe(1);
      expect(await recordResults(database, [resultOf(late), resultOf(current)])).toBe(0);
      expect(await stateOf(late)).toMatchObject({ status: 'succeeded', attempts: 1 });
      expect(await attemptsOf(late)).toHaveLength(1);
    });

    test('a result that comes after its lease, but before anyone took over, counts', async () => {
      await addBacklog(1);
      const delivery = one(await claim({ leaseMs: 1 }));
      expect(await recordResults(database, [resultOf(delivery)])).toBe(1);
    });

    test('no results are no statement', async () => {
      expect(await recordResults({ query: () => Promise.reject(new Error('asked')) }, [])).toBe(0);
    });
  });
});
