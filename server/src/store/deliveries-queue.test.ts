// The queue against a real database: leases, fencing, fairness between endpoints, cancellation.
// Time is handed in; nothing is sent.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addEndpoint, addEvents, addWorkspace, inFlightOf, newId, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import type { Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { Database } from './database.ts';
import { findHeads, type Head } from './deliveries-in-order.ts';
import { type ClaimedDelivery, cancelWaiting, claimDue } from './deliveries-queue.ts';
import { findWaiting } from './deliveries-waiting.ts';
import { type DeliveryResult, recordResults as record } from './delivery-results.ts';
import { fanOut } from './fan-out.ts';
import { beat, findLostLeases, recountInFlight, releaseLeases, releaseLostLeases, retireWorker } from './lost-leases.ts';

onEachDatabase('the queue of deliveries', (given, kind) => {
  let database: Database;
  beforeAll(() => {
    database = given();
  });
  afterEach(() => database.query(`update deliveries set status = 'cancelled', next_attempt_at = null where status = 'pending'`));

  const START = new Date('2026-01-01T00:00:00.000Z');
  const at = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);
  const OWNER = newId();
  const LEASE_MS = 60_000;

  /** A whole claim, without what the worker makes of trust and places. */
  async function claim({ share = 100, now = START, phase = 0, owner = OWNER } = {}): Promise<ClaimedDelivery[]> {
    const { endpoints: waiting } = await findWaiting(database, now);
    const keys = waiting.map(({ flow, isOpen }) => ({ workspaceId: flow.workspaceId, endpointId: flow.endpointId, isOpen }));
    await cancelWaiting(
      database,
      keys.filter(({ isOpen }) => !isOpen),
      now,
    );
    const heads = await findHeads(
      database,
      keys.map((key) => ({ ...key, after: null })),
      now,
    );
    const grants = keys
      .filter(({ isOpen }) => isOpen)
      .map((key) => ({ ...key, share, heads: heads.find((h) => h.endpointId === key.endpointId)?.heads ?? [] }));
    return (await claimDue(database, { grants, leaseMs: LEASE_MS, owner, now: () => now, newToken: newId, phase })).deliveries;
  }
  const recordResults = async (results: readonly DeliveryResult[]): Promise<number> => (await record(database, results, () => 0.5)).written;
  /** Frees what is lost, without looking for signs of life. */
  const freeLost = async (now: Date): Promise<number> =>
    releaseLostLeases(database, await findLostLeases(database, { now, leaseMs: LEASE_MS, deadAfterMs: null }), now);

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
    endpointId: delivery.endpoint.id,
    generation: delivery.endpoint.generation,
    verdict: 'acknowledged',
    holdMs: null,
    status: 'succeeded',
    nextAttemptAt: null,
    startedAt: at(1),
    endedAt: at(3),
    statusCode: 200,
    errorKind: null,
    error: null,
    remoteAddress: '127.0.0.1',
    responseHeaders: { 'content-type': 'text/plain' },
    responseBody: 'ok',
    responseTruncated: false,
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

    test('what was claimed and never settled is due again when the lease ends, as the same attempt', async () => {
      await addBacklog(1);
      const first = one(await claim());
      expect(await freeLost(at(59))).toBe(0);
      expect(await freeLost(at(60))).toBe(1);
      const again = one(await claim({ now: at(60) }));
      expect(again).toMatchObject({ id: first.id, attempts: 0, event: first.event });
      expect(again.leaseToken).not.toBe(first.leaseToken);
      expect(await inFlightOf(database, first.endpoint.id)).toBe(1);
    });

    test('a lease that a clock gave which has been put back since is over', async () => {
      await addBacklog(1);
      one(await claim({ now: at(86_400) }));
      expect(await freeLost(START)).toBe(1);
      one(await claim());
    });

    test('all leases can be released at once; what was due is due again, under another lease', async () => {
      const { workspace, endpoint } = await addBacklog(1);
      const first = one(await claim());
      expect(await releaseLeases(database, at(1))).toBe(1);
      expect(await inFlightOf(database, endpoint)).toBe(0);
      const again = one(await claim({ now: at(1) }));
      expect(again).toMatchObject({ workspaceId: workspace, id: first.id, attempts: 0 });
      expect(again.leaseToken).not.toBe(first.leaseToken);
      // What ends its process every time is not due a fourth time: it is lost, for the care of the worker to record.
      await releaseLeases(database, at(2));
      const third = one(await claim({ now: at(2) }));
      await releaseLeases(database, at(3));
      expect(await claim({ now: at(3) })).toEqual([]);
      expect(await findLostLeases(database, { now: at(3), leaseMs: LEASE_MS, deadAfterMs: null })).toMatchObject([
        { deliveryId: first.id, leaseToken: third.leaseToken, lostBefore: 2 },
      ]);
    });

    test('takes no more than it is granted, and of one endpoint no more than its cap, over all claims together (I-22)', async () => {
      const first = await addBacklog(10, { maxConcurrency: 4 }, at(-10));
      const second = await addBacklog(10, { maxConcurrency: 7 }, at(-5));
      const count = (claimed: ClaimedDelivery[], endpoint: Uuid) => claimed.filter((delivery) => delivery.endpoint.id === endpoint).length;
      const claimed = await claim({ share: 5 });
      expect([count(claimed, first.endpoint), count(claimed, second.endpoint)]).toEqual([4, 5]);
      const more = await claim({ owner: newId() });
      expect([count(more, first.endpoint), count(more, second.endpoint)]).toEqual([0, 2]);
      await recordResults(claimed.slice(0, 3).map((delivery) => resultOf(delivery)));
      expect(await claim()).toHaveLength(3);
      expect(await inFlightOf(database, first.endpoint)).toBe(4);
      expect(await inFlightOf(database, second.endpoint)).toBe(7);
    });

    test('begins no more attempts in a second than the rate cap, whoever claims (I-22)', async () => {
      const { endpoint } = await addBacklog(40, { maxConcurrency: 100, rateLimitPerSecond: 10 });
      let begun = 0;
      for (let ms = 0; ms < 1_000; ms += 20) {
        const claimed = await claim({ now: new Date(START.getTime() + ms), owner: newId() });
        begun += claimed.length;
        await recordResults(claimed.map((delivery) => resultOf(delivery)));
      }
      expect(begun).toBe(10);
      expect(await inFlightOf(database, endpoint)).toBe(0);
    });

    test('begins no more than the rate cap while the times of those that claim differ (I-22)', async () => {
      const { workspace, endpoint } = await addBacklog(600, { maxConcurrency: 256, rateLimitPerSecond: 100 });
      const key = { workspaceId: workspace, endpointId: endpoint };
      let begun = 0;
      for (let ms = 0; ms < 500; ms += 10) {
        for (const behindMs of [0, 15, 3_000]) {
          const now = new Date(START.getTime() + ms - behindMs);
          const options = { grants: [{ ...key, share: 50 }], leaseMs: LEASE_MS, owner: OWNER, now: () => now, newToken: newId };
          const { deliveries } = await claimDue(database, options);
          begun += deliveries.length;
          await recordResults(deliveries.map((delivery) => resultOf(delivery)));
        }
      }
      expect(begun).toBeGreaterThan(40);
      expect(begun).toBeLessThanOrEqual(100);
    });

    test('first attempts come before retries that have been due for longer, but for one place in four', async () => {
      const { workspace } = await addBacklog(12, { maxConcurrency: 100 });
      await database.query(
        `update deliveries set is_repeat = true, tries = 1, next_attempt_at = $2 where workspace_id = $1 and event_seq <= 6`,
        [workspace, at(-3600)],
      );
      const sequences = async (share: number, phase: number) =>
        (await claim({ share, phase })).map(({ eventSeq }) => eventSeq).sort((a, b) => a - b);
      expect(await sequences(4, 0)).toEqual([1, 7, 8, 9]);
      expect(await sequences(1, 0)).toEqual([10]);
      expect(await sequences(1, 3)).toEqual([2]);
      expect(await sequences(100, 0)).toEqual([3, 4, 5, 6, 11, 12]);
    });

    test('a first attempt is due whatever the clock says, a retry when its time has come', async () => {
      const { workspace } = await addBacklog(2, {}, at(86_400));
      await database.query('update deliveries set is_repeat = true, next_attempt_at = $2 where workspace_id = $1 and event_seq = 2', [
        workspace,
        at(2),
      ]);
      expect(one(await claim({ now: at(1) })).eventSeq).toBe(1);
      expect(await claim({ now: at(1) })).toEqual([]);
      expect(one(await claim({ now: at(2) })).eventSeq).toBe(2);
    });

    // The embedded database has one connection, so that nobody can hold a lock against another there.
    if (kind === 'PostgreSQL') {
      test('an endpoint that another worker is claiming from is passed by without waiting', async () => {
        const busy = await addBacklog(1);
        const other = await addBacklog(1);
        await database.transaction(async (transaction) => {
          await transaction.query('select 1 from webhook_flows where endpoint_id = $1 for update', [busy.endpoint]);
          expect(one(await claim()).endpoint.id).toBe(other.endpoint);
        });
        expect(one(await claim()).endpoint.id).toBe(busy.endpoint);
      });

      test('a claim passes by a delivery that somebody else holds, and claims the others without waiting', async () => {
        const held = await addBacklog(2);
        const other = await addBacklog(1);
        await database.transaction(async (transaction) => {
          await transaction.query('select 1 from deliveries where endpoint_id = $1 and event_seq = 1 for no key update', [held.endpoint]);
          const claimed = await claim();
          expect(claimed.map(({ endpoint, eventSeq }) => [endpoint.id, eventSeq]).sort()).toEqual(
            [
              [held.endpoint, 2],
              [other.endpoint, 1],
            ].sort(),
          );
        });
        expect(one(await claim()).eventSeq).toBe(1);
      });

      test('of a project in order nothing is claimed while somebody else holds its first (I-23)', async () => {
        const { look, take } = await addOrdered(2);
        const heads = await look();
        await database.transaction(async (transaction) => {
          await transaction.query('select 1 from deliveries where id = $1 for no key update', [heads[0]?.id]);
          expect(await take(heads)).toEqual([]);
        });
        expect(one(await take(heads)).eventSeq).toBe(1);
      });
    }

    test('of a project in order only the first pending one is claimed; it holds back no other project', async () => {
      const workspace = await addWorkspace(database);
      const { id } = await addEndpoint(database, workspace, { ordering: 'project' });
      const projects = [newId(), newId(), null] as const;
      await addEvents(database, workspace, Array(9).fill('project.created'), (i) => projects[i % 3] as Uuid | null);
      await fanOut(database, { workspaceIds: [workspace], limit: 10, newId, now: START });
      const sequences = (claimed: ClaimedDelivery[]) => claimed.map(({ eventSeq }) => eventSeq).sort((a, b) => a - b);
      const first = await claim();
      expect(sequences(first)).toEqual([1, 2, 3]);
      expect(await claim()).toEqual([]);
      const bySeq = (seq: number) => first.find(({ eventSeq }) => eventSeq === seq) as ClaimedDelivery;
      await recordResults([
        resultOf(bySeq(1), { status: 'pending', nextAttemptAt: at(5), verdict: 'failed', statusCode: 500 }),
        resultOf(bySeq(2)),
        resultOf(bySeq(3), { status: 'failed', verdict: 'failed', statusCode: 500 }),
      ]);
      expect(sequences(await claim({ now: at(4) }))).toEqual([5, 6]);
      expect(sequences(await claim({ now: at(5) }))).toEqual([1]);
      expect(await inFlightOf(database, id)).toBe(3);
    });

    /** An endpoint in order with events of one project, fanned out; and a claim of these heads. */
    async function addOrdered(count: number) {
      const workspace = await addWorkspace(database);
      const { id: endpoint } = await addEndpoint(database, workspace, { ordering: 'project' });
      const project = newId();
      await addEvents(database, workspace, Array(count).fill('project.created'), () => project);
      await fanOut(database, { workspaceIds: [workspace], limit: count, newId, now: START });
      const key = { workspaceId: workspace, endpointId: endpoint };
      const look = async (now = START) => (await findHeads(database, [{ ...key, after: null }], now))[0]?.heads ?? [];
      const take = async (heads: readonly Head[], now = START) =>
        (
          await claimDue(database, {
            grants: [{ ...key, share: 1, heads }],
            leaseMs: LEASE_MS,
            owner: OWNER,
            now: () => now,
            newToken: newId,
          })
        ).deliveries;
      const replayFirst = () =>
        database.query(
          `update deliveries set status = 'pending', completed_at = null, is_repeat = true, next_attempt_at = $2
          where endpoint_id = $1 and event_seq = 1`,
          [endpoint, START],
        );
      return { look, take, replayFirst };
    }

    test('an earlier event that is sent again waits for the attempt of its project that is under way (I-23)', async () => {
      const { look, take, replayFirst } = await addOrdered(3);
      await recordResults([resultOf(one(await take(await look())))]);
      const stale = await look();
      const second = one(await take(stale));
      await replayFirst();
      expect(await look()).toEqual([]);
      await recordResults([resultOf(second)]);
      expect(one(await take(await look())).eventSeq).toBe(1);
    });

    test('whose turn it was by an older look is not claimed once another of its project is under way or comes before it (I-23)', async () => {
      const { look, take, replayFirst } = await addOrdered(3);
      await recordResults([resultOf(one(await take(await look())))]);
      const stale = await look();
      await replayFirst();
      expect(await take(stale)).toEqual([]);
      const first = await look();
      expect(one(await take(first)).eventSeq).toBe(1);
      expect(await take(stale)).toEqual([]);
    });

    test('a first of its project whose attempt failed since it was looked at is claimed when it is due, not before', async () => {
      const { look, take } = await addOrdered(2);
      const stale = await look();
      const failed = one(await take(stale));
      await recordResults([resultOf(failed, { status: 'pending', nextAttemptAt: at(3600), verdict: 'failed', statusCode: 500 })]);
      expect(await take(stale, at(3599))).toEqual([]);
      expect(one(await take(stale, at(3600))).id).toBe(failed.id);
    });

    test('an endpoint that was enabled again after the look loses nothing of what is to be sent (I-16)', async () => {
      const { workspace, endpoint } = await addBacklog(1);
      await database.query(`update webhook_endpoints set status = 'disabled' where id = $1`, [endpoint]);
      const closed = (await findWaiting(database, START)).endpoints.filter(({ isOpen }) => !isOpen).map(({ flow }) => flow);
      await database.query(`update webhook_endpoints set status = 'enabled', after_seq = 1 where id = $1`, [endpoint]);
      await addEvents(database, workspace, ['project.created']);
      await fanOut(database, { workspaceIds: [workspace], limit: 1, newId, now: START });
      expect(closed).toHaveLength(1);
      expect(await cancelWaiting(database, closed, START)).toBe(0);
      expect((await claim()).map(({ eventSeq }) => eventSeq)).toContain(2);
    });

    test('an open breaker lets one probe through when its time has come, whoever claims', async () => {
      const { endpoint } = await addBacklog(20);
      const claimed = await claim();
      await recordResults(
        claimed
          .slice(0, 15)
          .map((delivery) => resultOf(delivery, { status: 'failed', verdict: 'failed', statusCode: 500, endedAt: at(3) })),
      );
      expect(await claim({ now: at(60) })).toEqual([]); // One from before is still under way.
      await recordResults(
        claimed.slice(15).map((delivery) => resultOf(delivery, { status: 'failed', verdict: 'failed', statusCode: 500, endedAt: at(3) })),
      );
      expect(await claim({ now: at(7) })).toEqual([]);
      const probe = one(await claim({ now: at(8) }));
      expect(await claim({ now: at(9), owner: newId() })).toEqual([]);
      await recordResults([resultOf(probe)]);
      expect(await claim({ now: at(9) })).toHaveLength(2);
      // A new address, or enabling it again, is a new beginning.
      await database.query('update webhook_endpoints set generation = 2 where id = $1', [endpoint]);
      expect(await claim({ now: at(9) })).toHaveLength(1);
    });

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
      expect(await recordResults([resultOf(delivery)])).toBe(1);
      expect(await stateOf(delivery)).toMatchObject({ status: 'succeeded' });
    });

    test('workers that claim at once share the work and never get the same delivery', async () => {
      await addBacklog(40, { maxConcurrency: 100 });
      await addBacklog(40, { maxConcurrency: 100 });
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim({ share: 5 })));
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
      const written = await recordResults([
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
      await recordResults([resultOf(first, { status: 'pending', nextAttemptAt: at(8), statusCode: 500 })]);
      expect(await claim({ now: at(7) })).toEqual([]);
      const second = one(await claim({ now: at(8) }));
      expect(second).toMatchObject({ id: first.id, attempts: 1, dueAt: at(8) });
      await recordResults([resultOf(second)]);
      expect(await attemptsOf(first)).toMatchObject([
        { number: 1, status_code: 500 },
        { number: 2, status_code: 200 },
      ]);
    });

    test('a worker that comes late writes nothing, neither before nor after the result of the one that took over', async () => {
      await addBacklog(1);
      const late = one(await claim());
      await freeLost(at(60));
      const current = one(await claim({ now: at(60) }));
      expect(await recordResults([resultOf(late, { status: 'failed', statusCode: 500 })])).toBe(0);
      expect(await stateOf(late)).toMatchObject({ status: 'pending', attempts: 0, lease_token: current.leaseToken });
      expect(await recordResults([resultOf(current)])).toBe(1);
      expect(await recordResults([resultOf(late), resultOf(current)])).toBe(0);
      expect(await stateOf(late)).toMatchObject({ status: 'succeeded', attempts: 1 });
      expect(await attemptsOf(late)).toHaveLength(1);
    });

    test('a result that comes after its lease, but before anyone took over, counts', async () => {
      await addBacklog(1);
      const delivery = one(await claim({ now: at(-3600) }));
      expect(await recordResults([resultOf(delivery)])).toBe(1);
    });

    test('results of several workers for the same endpoints, written at once in any order, all count', async () => {
      const backlogs = [await addBacklog(16), await addBacklog(16), await addBacklog(16)];
      const claimed = await claim();
      expect(claimed).toHaveLength(48);
      const parts = Array.from({ length: 6 }, (_, i) =>
        claimed.filter((_delivery, j) => j % 6 === i).map((delivery) => resultOf(delivery)),
      );
      const written = await Promise.all(parts.map((part, i) => recordResults(i % 2 === 0 ? part : part.toReversed())));
      expect(written).toEqual(Array(6).fill(8));
      for (const { endpoint } of backlogs) expect(await inFlightOf(database, endpoint)).toBe(0);
    });

    test('an endpoint that has failed for five days in ten attempts is given up; one that was acknowledged in between is not', async () => {
      const givingUp = await addBacklog(10);
      const recovering = await addBacklog(10);
      const ends = (delivery: ClaimedDelivery, seconds: number) =>
        resultOf(delivery, { status: 'failed', verdict: 'failed', statusCode: 500, startedAt: at(seconds), endedAt: at(seconds) });
      const claimed = await claim();
      const of = (endpoint: Uuid) => claimed.filter((delivery) => delivery.endpoint.id === endpoint);
      const first = of(givingUp.endpoint)
        .slice(0, 9)
        .map((delivery) => ends(delivery, 0));
      expect((await record(database, first, () => 0.5)).givenUp).toEqual([]);
      await record(
        database,
        [
          ...of(recovering.endpoint)
            .slice(0, 8)
            .map((d) => ends(d, 0)),
          resultOf(of(recovering.endpoint)[8] as ClaimedDelivery),
        ],
        () => 0.5,
      );
      const last = [of(givingUp.endpoint)[9], of(recovering.endpoint)[9]].map((delivery) => ends(delivery as ClaimedDelivery, 5 * 86_400));
      expect((await record(database, last, () => 0.5)).givenUp).toEqual([
        { workspaceId: givingUp.workspace, endpointId: givingUp.endpoint, generation: 1, failingSince: START },
      ]);
    });

    test('no results are no statement', async () => {
      expect(await record({ transaction: () => Promise.reject(new Error('asked')) } as unknown as Database, [], () => 0.5)).toEqual({
        written: 0,
        givenUp: [],
      });
    });
  });

  describe('leases of workers that are gone', () => {
    const lost = (deadAfterMs: number | null) => findLostLeases(database, { now: START, leaseMs: LEASE_MS, deadAfterMs });

    test('are lost when their worker gives no sign of life; those of one that does are not', async () => {
      const { endpoint } = await addBacklog(2, { maxConcurrency: 1 });
      const other = await addBacklog(1);
      const [living, dead] = [newId(), newId()];
      await beat(database, living);
      await beat(database, dead);
      await database.query(`update webhook_workers set seen_at = seen_at - interval '8001 milliseconds' where id = $1`, [dead]);
      await database.query(`update webhook_endpoints set status = 'disabled' where id = $1`, [other.endpoint]);
      one(await claim({ owner: dead }));
      await database.query(`update webhook_endpoints set status = 'enabled' where id = $1`, [other.endpoint]);
      await claim({ owner: living });
      expect(await lost(null)).toEqual([]);
      expect(await lost(8_000)).toMatchObject([{ endpointId: endpoint, lostBefore: 0, tries: 0 }]);
      expect(await releaseLostLeases(database, await lost(8_000), START)).toBe(1);
      expect(await inFlightOf(database, endpoint)).toBe(0);
      expect(await lost(8_000)).toEqual([]);
    });

    test('a worker that leaves in good order takes nothing with it', async () => {
      const { endpoint } = await addBacklog(1);
      const owner = newId();
      await beat(database, owner);
      const delivery = one(await claim({ owner }));
      expect(await retireWorker(database, owner, at(1))).toBe(1);
      expect(await inFlightOf(database, endpoint)).toBe(0);
      expect(await database.query('select 1 from webhook_workers where id = $1', [owner])).toEqual([]);
      expect(one(await claim({ now: at(1) })).id).toBe(delivery.id);
    });

    test('a count of attempts under way that somebody else put wrong is set right', async () => {
      const { endpoint } = await addBacklog(2);
      await claim();
      await database.query(`update deliveries set status = 'cancelled', next_attempt_at = null where endpoint_id = $1 and event_seq = 1`, [
        endpoint,
      ]);
      expect(await recountInFlight(database)).toBeGreaterThanOrEqual(1);
      expect(await inFlightOf(database, endpoint)).toBe(1);
      expect(await recountInFlight(database)).toBe(0);
    });
  });
});
