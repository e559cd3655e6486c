// Lanes of several processes on one PostgreSQL, each deciding batches behind one another, while commits are slow, fail, and connections
// are killed: every command is answered once, no update is lost, no answer is stored twice, and the books hold.

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { BatchServices } from '../src/commands/batch.ts';
import { type AnyCommand, type Outcome, ownEnvelope, type StoredAnswer } from '../src/commands/command.ts';
import { createMilestone } from '../src/commands/create-milestone.ts';
import { createLane, type Lane, laneLimits } from '../src/commands/lane.ts';
import { updateMilestone } from '../src/commands/update-milestone.ts';
import { decodeId, type Uuid } from '../src/domain/ids.ts';
import type { Milestone } from '../src/domain/milestone.ts';
import { newId } from '../src/open-store.ts';
import { type Database, DatabaseError, type Transaction, TransactionAborted } from '../src/store/database.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');
const cipher = { seal: (text: string) => text, open: (text: string) => text };
const FOR_MS = Number(process.env.FIRE_MS ?? 3_000);
const PROCESSES = 3;
const CLIENTS = 24;

interface Place {
  readonly workspaceId: Uuid;
  readonly projectId: Uuid;
  readonly milestoneId: Uuid;
  /** Versions of the milestone that were answered, each to one command. */
  readonly versions: number[];
  unknown: number;
}

const answer = (milestone: Milestone): StoredAnswer => ({ status: 200, headers: {}, body: `${milestone.version} ${milestone.id}` });

/** Some transactions take long to commit, some fail before; now and then the connection of one is killed as it commits. */
function underFire(
  database: Database,
  counts: { behind: number; inLine: number; failed: number; killed: number },
  kills: Promise<unknown>[],
): Database {
  return Object.create(database, {
    transaction: {
      value: (work: (transaction: Transaction) => Promise<unknown>) =>
        database.transaction(async (transaction) => {
          const query: Transaction['query'] = (text, parameters) => {
            if (text.includes('hold_heads')) counts.behind += 1;
            if (text.includes('lock_timeout')) counts.inLine += 1;
            return transaction.query(text, parameters);
          };
          if (Math.random() < 0.2) await pause(Math.random() * 5);
          const result = await work({ id: transaction.id, query });
          const chance = Math.random();
          if (chance < 0.3) await pause(Math.random() * 10);
          if (chance > 0.96) counts.failed += 1;
          if (chance > 0.99) throw new TransactionAborted('injected');
          if (chance > 0.98) throw new DatabaseError('injected', '40P01');
          if (chance > 0.97) throw new DatabaseError('injected', '23514');
          if (chance > 0.96) throw new Error('injected');
          if (chance > 0.95) {
            counts.killed += 1;
            const [own] = await transaction.query<{ pid: number }>('select pg_backend_pid() as pid').catch(() => []);
            // Killed as COMMIT travels: before it, in it or after it.
            const kill = () => database.query('select pg_terminate_backend($1)', [own?.pid]).catch(() => []);
            if (own !== undefined) kills.push(pause(Math.random() * 2).then(kill));
          }
          return result;
        }),
    },
  });
}

describe.skipIf(postgres?.available !== true)('lanes of several processes under fire', () => {
  async function openPlaces(app: TestApp, count: number): Promise<Place[]> {
    const places: Place[] = [];
    for (let i = 0; i < count; i++) {
      const { id: workspaceId, key } = await app.addWorkspace();
      const project = await app.ok('POST', '/v1/projects', { key, body: { name: 'p', client_id: 'c' } });
      const milestone = await app.ok('POST', `/v1/projects/${project.id}/milestones`, { key, body: { title: 't', amount: 1 } });
      const ids = { projectId: decodeId('project', project.id) as Uuid, milestoneId: decodeId('milestone', milestone.id) as Uuid };
      places.push({ workspaceId, ...ids, versions: [], unknown: 0 });
    }
    return places;
  }

  test.each([
    ['follow again at once, whatever came between two of them', 0],
    ['stand in line for so long after', laneLimits.contendedMs],
  ])(
    'every command is answered once and truly, no update is lost, and the books hold, where batches %s (%i ms)',
    async (_what, contendedMs) => {
      Object.assign(laneLimits, { contendedMs });
      const app = await openTestApp({ database: 'PostgreSQL' });
      try {
        const places = await openPlaces(app, 4);
        const counts = { behind: 0, inLine: 0, failed: 0, killed: 0 };
        const kills: Promise<unknown>[] = [];
        const database = underFire(app.database, counts, kills);
        const services: BatchServices = { database, clock: () => new Date(), newId, cipher };
        const lanes = Array.from({ length: PROCESSES }, () => createLane({ ...services, onCommitted: () => undefined }));
        const until = performance.now() + FOR_MS;
        let submitted = 0;
        let answered = 0;
        let rejected = 0;
        const mismatches: unknown[] = [];
        const submit = async (lane: Lane, command: AnyCommand): Promise<Outcome | null> => {
          submitted += 1;
          try {
            const outcome = await lane.submit(command);
            answered += 1;
            return outcome;
          } catch {
            rejected += 1;
            return null;
          }
        };
        const versionOf = (outcome: Outcome | null): number | null =>
          outcome !== null && 'status' in outcome ? Number(outcome.body.split(' ')[0]) : null;
        let serial = 0;
        async function client(index: number): Promise<void> {
          while (performance.now() < until) {
            // Mostly one process a workspace, so that batches do follow one another; at times another one intrudes.
            const place = places[(index + (Math.random() < 0.3 ? 1 : 0)) % places.length] as Place;
            const intrudes = Math.random() < 0.05;
            const lane = lanes[(places.indexOf(place) + (intrudes ? 1 : 0)) % PROCESSES] as Lane;
            const { workspaceId, milestoneId, projectId } = place;
            const envelope = ownEnvelope(workspaceId, answer);
            const choice = Math.random();
            if (choice < 0.5) {
              const version = versionOf(await submit(lane, updateMilestone(envelope, milestoneId, { title: `t${serial++}` }, null)));
              if (version === null) place.unknown += 1;
              else place.versions.push(version);
            } else if (choice < 0.7) {
              // One request, sent to two processes at once with its key: one effect, one answer.
              const idempotency = { key: `k${serial++}`, fingerprint: Buffer.alloc(32) };
              const make = (): AnyCommand => ({ ...updateMilestone(envelope, milestoneId, { title: `t${serial++}` }, null), idempotency });
              const other = lanes[Math.floor(Math.random() * PROCESSES)] as Lane;
              const [one, two] = (await Promise.all([submit(lane, make()), submit(other, make())])).map(versionOf);
              if (one !== null && two !== null && one !== two) mismatches.push([one, two]);
              const version = one ?? two;
              if (version === null || version === undefined) place.unknown += 1;
              else place.versions.push(version);
            } else {
              const draft = { title: 'm', description: null, amountMinor: 5n, currency: null, payeeId: null, dueDate: null, metadata: {} };
              const made = await submit(lane, createMilestone(envelope, projectId, draft));
              if (made === null || !('status' in made)) continue;
              const id = made.body.split(' ')[1] as Uuid;
              await submit(lane, updateMilestone(envelope, id, { status: 'submitted' }, null));
              // By every process at once: verify finds it if one milestone is paid twice.
              await Promise.all(lanes.map((each) => submit(each, updateMilestone(envelope, id, { status: 'approved' }, null))));
            }
          }
        }
        await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
        await Promise.all([...lanes.map((lane) => lane.close()), ...kills]);
        // The pool hears of the last ones.
        await pause(200);
        expect(mismatches).toEqual([]);
        expect(answered + rejected).toBe(submitted);
        expect(contendedMs === 0 ? counts.behind : counts.inLine).toBeGreaterThan(100);
        for (const { versions, unknown, milestoneId } of places) {
          const [last] = await app.database.query<{ version: number }>('select version from milestones where id = $1', [milestoneId]);
          expect(new Set(versions).size).toBe(versions.length);
          const changes = Number(last?.version) - 1;
          expect(changes).toBeGreaterThanOrEqual(versions.length);
          expect(changes).toBeLessThanOrEqual(versions.length + unknown);
        }
        expect(await app.faults()).toEqual([]);
      } finally {
        await app.stop();
      }
    },
    FOR_MS + 60_000,
  );
});
