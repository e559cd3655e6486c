// Leases that ended with their process: what was asked for meanwhile is done, and the counts stay right.
// On both databases; nothing is sent.

import { afterEach, expect, test } from 'vitest';
import { addEndpoint, addEvents, addWorkspace, newId, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import type { Uuid } from '../domain/ids.ts';
import { claimDue } from './deliveries-queue.ts';
import { deliveryAskWrites } from './delivery-asks.ts';
import { fanOut } from './fan-out.ts';
import { findLostLeases, MAX_LOST_LEASES, releaseLeases, releaseLostLeases, retireWorker } from './lost-leases.ts';

const LEASE_MS = 60_000;

onEachDatabase('leases whose process is gone', (database) => {
  afterEach(() => database().query(`update deliveries set status = 'cancelled', next_attempt_at = null where status = 'pending'`));

  /** An endpoint with as many deliveries under way. */
  async function underWay(count: number, owner = newId()): Promise<{ workspaceId: Uuid; endpointId: Uuid; owner: Uuid }> {
    const workspaceId = await addWorkspace(database());
    const { id: endpointId } = await addEndpoint(database(), workspaceId);
    await addEvents(database(), workspaceId, Array(count).fill('project.created'));
    await fanOut(database(), { workspaceIds: [workspaceId], limit: count + 1, newId, now: new Date() });
    const grants = [{ workspaceId, endpointId, share: count }];
    await claimDue(database(), { grants, leaseMs: LEASE_MS, owner, now: () => new Date(), newToken: newId });
    return { workspaceId, endpointId, owner };
  }

  const rowsOf = (endpointId: Uuid) =>
    database().query<{ id: Uuid; status: string; tries: number; lost_leases: number; asked: string | null; is_leased: boolean }>(
      `select id, status, tries, lost_leases, asked, lease_token is not null as is_leased from deliveries where endpoint_id = $1 order by event_seq`,
      [endpointId],
    );

  async function ask(workspaceId: Uuid, id: Uuid, kind: 'replay' | 'cancel'): Promise<void> {
    for (const { text, parameters } of deliveryAskWrites([{ workspaceId, id, ask: kind, at: new Date() }]))
      await database().query(text, parameters);
  }

  const endings: [string, (owner: Uuid) => Promise<unknown>][] = [
    ['a restart of the only process', () => releaseLeases(database(), new Date())],
    ['a stop in good order', (owner) => retireWorker(database(), owner, new Date())],
    [
      'an end of the lease',
      async () => {
        const now = new Date(Date.now() + 2 * LEASE_MS);
        await releaseLostLeases(database(), await findLostLeases(database(), { now, leaseMs: LEASE_MS, deadAfterMs: null }), new Date());
      },
    ],
  ];

  test.each(
    endings,
  )('what was asked for meanwhile is done after %s: a replay begins its schedule anew, and nothing cancelled is sent', async (_name, end) => {
    const { workspaceId, endpointId, owner } = await underWay(3);
    await database().query('update deliveries set tries = 7, lost_leases = 1 where endpoint_id = $1', [endpointId]);
    const [replayed, cancelled, other] = (await rowsOf(endpointId)).map(({ id }) => id) as [Uuid, Uuid, Uuid];
    await ask(workspaceId, replayed, 'replay');
    await ask(workspaceId, cancelled, 'cancel');
    await end(owner);
    expect(await rowsOf(endpointId)).toMatchObject([
      { id: replayed, status: 'pending', tries: 0, lost_leases: 0, asked: null, is_leased: false },
      { id: cancelled, status: 'cancelled', tries: 7, asked: null, is_leased: false },
      { id: other, status: 'pending', tries: 7, asked: null, is_leased: false },
    ]);
  });

  test('what a restart leaves to be recorded as failed stays counted as under way until it is', async () => {
    const { endpointId } = await underWay(3);
    const [hopeless] = (await rowsOf(endpointId)).map(({ id }) => id);
    await database().query('update deliveries set lost_leases = $2 where id = $1', [hopeless, MAX_LOST_LEASES]);
    const now = new Date();
    expect(await releaseLeases(database(), now)).toBe(2);
    expect(await findLostLeases(database(), { now, leaseMs: LEASE_MS, deadAfterMs: null })).toMatchObject([{ deliveryId: hopeless }]);
    expect(await database().query('select in_flight from webhook_flows where endpoint_id = $1', [endpointId])).toEqual([{ in_flight: 1 }]);
  });
});
