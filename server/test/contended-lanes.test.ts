// What a lane does when others write to its workspaces: it stands in line for their locks, but not behind one that is held for long.
// On a real PostgreSQL, with locks held on connections beside the lane's own.

import { describe, expect, onTestFinished, test } from 'vitest';
import { type AnyCommand, ownEnvelope } from '../src/commands/command.ts';
import { createProject } from '../src/commands/create-project.ts';
import { createLane, type Lane, laneLimits } from '../src/commands/lane.ts';
import type { Uuid } from '../src/domain/ids.ts';
import { newId } from '../src/open-store.ts';
import type { Database, Transaction } from '../src/store/database.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { holdHead } from './support/hold-head.ts';

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');
const cipher = { seal: (text: string) => text, open: (text: string) => text };
const answer = (): { status: number; headers: Record<string, string>; body: string } => ({ status: 200, headers: {}, body: '' });
const creation = (workspaceId: Uuid): AnyCommand =>
  createProject(ownEnvelope(workspaceId, answer), {
    name: 'Website',
    clientId: 'acme',
    payeeId: null,
    currency: null,
    release: 'on_approval',
    metadata: {},
    milestones: [],
  });

function laneOf(database: Database): Lane {
  const lane = createLane({ database, clock: () => new Date(), newId, cipher, onCommitted: () => undefined });
  onTestFinished(() => lane.close());
  return lane;
}

/** Adds how each transaction asks for its locks. */
function recording(real: Database, asked: string[]): Database {
  return Object.create(real, {
    transaction: {
      value: (work: (transaction: Transaction) => Promise<unknown>) =>
        real.transaction((transaction) =>
          work({
            id: transaction.id,
            query(text, parameters) {
              const way = /lock_timeout|skip locked|hold_heads/.exec(text)?.[0];
              if (way !== undefined) asked.push(way);
              return transaction.query(text, parameters);
            },
          }),
        ),
    },
  });
}

/** For the test that is running. */
function setLockWait(lockWaitMs: number): void {
  const before = { lockWaitMs: laneLimits.lockWaitMs };
  Object.assign(laneLimits, { lockWaitMs });
  onTestFinished(() => void Object.assign(laneLimits, before));
}

const pause = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

describe.skipIf(postgres?.available !== true)('a lane among others', () => {
  async function withApp(work: (app: TestApp) => Promise<void>): Promise<void> {
    const app = await openTestApp({ database: 'PostgreSQL' });
    try {
      await work(app);
      expect(await app.faults()).toEqual([]);
    } finally {
      await app.stop();
    }
  }

  test('waits for a lock that it found taken, and for all of the next second', () =>
    withApp(async (app) => {
      setLockWait(10_000);
      const asked: string[] = [];
      const lane = laneOf(recording(app.database, asked));
      const lock = await holdHead(app, app.workspaceId);
      const first = lane.submit(creation(app.workspaceId));
      await expect.poll(() => asked).toEqual(['skip locked', 'lock_timeout']);
      await lock.release();
      await first;
      await lane.submit(creation(app.workspaceId));
      expect(asked).toEqual(['skip locked', 'lock_timeout', 'lock_timeout']);
      await pause(laneLimits.contendedMs);
      await lane.submit(creation(app.workspaceId));
      expect(asked.at(-1)).toBe('skip locked');
    }));

  test('waits in vain once, and then lets the other workspaces go on', () =>
    withApp(async (app) => {
      const [held, free] = [await app.addWorkspace(), await app.addWorkspace()];
      const asked: string[] = [];
      const lane = laneOf(recording(app.database, asked));
      const lock = await holdHead(app, held.id);
      let isAnswered = false;
      const waiting = lane.submit(creation(held.id)).finally(() => {
        isAnswered = true;
      });
      await expect.poll(() => asked).toContain('lock_timeout');
      const begunAtMs = performance.now();
      await lane.submit(creation(free.id));
      expect(performance.now() - begunAtMs).toBeLessThan(1_000);
      for (let i = 0; i < 20; i++) await lane.submit(creation(free.id));
      expect(asked.filter((way) => way === 'lock_timeout')).toHaveLength(1);
      expect(isAnswered).toBe(false);
      await lock.release();
      await waiting;
    }));

  test('shares workspaces with another lane: every write is carried out once, in one order', () =>
    withApp(async (app) => {
      const workspaces = await Promise.all(Array.from({ length: 4 }, () => app.addWorkspace()));
      const asked: string[] = [];
      const lanes = [laneOf(recording(app.database, asked)), laneOf(recording(app.database, asked))];
      const clients = Array.from({ length: 32 }, async (_, client) => {
        for (let i = 0; i < 20; i++) {
          const { id } = workspaces[(client + i) % workspaces.length] as { id: Uuid };
          expect(await (lanes[client % 2] as Lane).submit(creation(id))).toMatchObject({ status: 200 });
        }
      });
      await Promise.all(clients);
      expect(asked).toContain('lock_timeout');
      const rows = await app.database.query<{ n: bigint; last: bigint }>(
        'select count(*) as n, max(seq) as last from events where workspace_id = any($1) group by workspace_id',
        [workspaces.map(({ id }) => id)],
      );
      expect(rows).toHaveLength(workspaces.length);
      expect(rows.filter(({ n, last }) => n !== last)).toEqual([]);
      const [projects] = await app.database.query<{ n: bigint }>('select count(*) as n from projects where workspace_id = any($1)', [
        workspaces.map(({ id }) => id),
      ]);
      expect(projects?.n).toBe(640n);
    }));
});
