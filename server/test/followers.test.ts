// What a batch behind another one may believe: of commands that changed nothing, of stored answers, and of a commit nobody heard of.
// On a real PostgreSQL; some tests play the lane themselves, to stop between two batches.

import { describe, expect, test } from 'vitest';
import { type BatchServices, runBatch } from '../src/commands/batch.ts';
import { closeWorkspace } from '../src/commands/close-workspace.ts';
import { type AnyCommand, ownEnvelope } from '../src/commands/command.ts';
import { createProject } from '../src/commands/create-project.ts';
import { createLane } from '../src/commands/lane.ts';
import { revokeApiKey } from '../src/commands/revoke-api-key.ts';
import { updateMilestone } from '../src/commands/update-milestone.ts';
import { decodeId, type Uuid } from '../src/domain/ids.ts';
import type { MilestoneUpdate } from '../src/domain/milestone.ts';
import { newId } from '../src/open-store.ts';
import { CommitUnknown, type Database, DatabaseUnavailable, type Transaction, TransactionAborted } from '../src/store/database.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { holdBatch } from './support/hold-batch.ts';

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');
const cipher = { seal: (text: string) => text, open: (text: string) => text };
const project = { name: 'Website', clientId: 'acme', payeeId: null, currency: null, release: 'on_approval', metadata: {} } as const;

const answer = (): { status: number; headers: Record<string, string>; body: string } => ({ status: 200, headers: {}, body: '' });
const servicesOf = (database: Database): BatchServices => ({ database, clock: () => new Date(), newId, cipher });
const creation = (workspaceId: Uuid): AnyCommand => createProject(ownEnvelope(workspaceId, answer), { ...project, milestones: [] });
const update = (workspaceId: Uuid, id: Uuid, changed: MilestoneUpdate): AnyCommand =>
  updateMilestone(ownEnvelope(workspaceId, answer), id, changed, null);
const keyed = (command: AnyCommand, key: string): AnyCommand => ({ ...command, idempotency: { key, fingerprint: Buffer.alloc(32) } });
const pause = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

interface HeldFirst {
  readonly database: Database;
  /** The first transaction has sent what it writes … */
  readonly isSent: Promise<void>;
  /** … and commits now. */
  release(): void;
  begun(): number;
}

/** A database whose first transaction does not commit until it is let go; `onBegin` may refuse a later one. */
function holdFirst(real: Database, onBegin: (begun: number) => void = () => undefined): HeldFirst {
  const sent = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let begun = 0;
  const database: Database = Object.create(real, {
    transaction: {
      async value(work: (transaction: Transaction) => Promise<unknown>) {
        begun += 1;
        onBegin(begun);
        if (begun > 1) return real.transaction(work);
        return real.transaction(async (transaction) => {
          const result = await work(transaction);
          sent.resolve();
          await released.promise;
          return result;
        });
      },
    },
  });
  return { database, isSent: sent.promise, release: released.resolve, begun: () => begun };
}

/** Adds the texts of each transaction's statements. */
function recording(real: Database, asked: string[][]): Database {
  return Object.create(real, {
    transaction: {
      value: (work: (transaction: Transaction) => Promise<unknown>) =>
        real.transaction((transaction) => {
          const texts: string[] = [];
          asked.push(texts);
          return work({
            id: transaction.id,
            query(text, parameters) {
              texts.push(text);
              return transaction.query(text, parameters);
            },
          });
        }),
    },
  });
}

async function keyOf(app: TestApp): Promise<Uuid> {
  const [key] = await app.database.query<{ id: Uuid }>('select id from api_keys where workspace_id = $1', [app.workspaceId]);
  return key?.id as Uuid;
}

describe.skipIf(postgres?.available !== true)('a batch behind another one', () => {
  async function withMilestone(work: (app: TestApp, id: Uuid, publicId: string) => Promise<void>): Promise<void> {
    const app = await openTestApp({ database: 'PostgreSQL' });
    try {
      const { id } = (await bringMilestone(app, 'pending')).milestone;
      await work(app, decodeId('milestone', id) as Uuid, id);
      expect(await app.faults()).toEqual([]);
    } finally {
      await app.stop();
    }
  }

  test('follows one whose command changed nothing', () =>
    withMilestone(async (app, id) => {
      const first = holdBatch([update(app.workspaceId, id, { title: 'Design' })], 'skip', servicesOf(app.database));
      const behind = runBatch([creation(app.workspaceId)], await first.ahead, servicesOf(app.database));
      behind.catch(() => undefined);
      first.release();
      await first.ended;
      expect((await behind).results).toEqual([{ outcome: answer() }]);
    }));

  test('follows in many workspaces at once, in whatever order they were asked for', () =>
    withMilestone(async (app) => {
      const others = await Promise.all(Array.from({ length: 12 }, () => app.addWorkspace()));
      const ids = [app.workspaceId, ...others.map(({ id }) => id)];
      const first = holdBatch(ids.slice(0, 8).map(creation), 'skip', servicesOf(app.database));
      const behind = runBatch(ids.toReversed().map(creation), await first.ahead, servicesOf(app.database));
      behind.catch(() => undefined);
      first.release();
      await first.ended;
      expect((await behind).results).toEqual(ids.map(() => ({ outcome: answer() })));
    }));

  test('repeats no answer that the one before meant to store and did not (I-13)', () =>
    withMilestone(async (app, id) => {
      const same = keyed(update(app.workspaceId, id, { title: 'Design' }), 'once');
      // Where the books are ahead of the clock, not even the time of the head tells the two apart.
      const services = { ...servicesOf(app.database), clock: () => new Date(0) };
      const first = holdBatch([same], 'skip', services);
      const behind = runBatch([same], await first.ahead, services);
      behind.catch(() => undefined);
      first.release(new Error('rolled back'));
      await expect(first.ended).rejects.toThrow('rolled back');
      await expect(behind).rejects.toMatchObject({ sqlstate: '40001' });
    }));

  test('finds no workspace open that was closed while its lock was waited for (I-37)', () =>
    withMilestone(async (app) => {
      const [workspace] = await app.database.query<{ name: string }>('select name from workspaces where id = $1', [app.workspaceId]);
      const closing = closeWorkspace(ownEnvelope(app.workspaceId, answer), workspace?.name as string);
      const first = holdBatch([closing], 'skip', servicesOf(app.database));
      await first.ahead;
      const waiting = runBatch([creation(app.workspaceId)], 'wait', servicesOf(app.database));
      await pause(200);
      first.release();
      await first.ended;
      expect((await waiting).results).toEqual([{ outcome: expect.objectContaining({ code: 'workspace_closed' }) }]);
    }));

  test('is followed by none while it is not known what became of the one before it', () =>
    withMilestone(async (app, id, publicId) => {
      const held: { sent: () => void; release: () => void; lose: () => void } = { sent() {}, release() {}, lose() {} };
      const sent = new Promise<void>((resolve) => (held.sent = resolve));
      const released = new Promise<void>((resolve) => (held.release = resolve));
      const lost = new Promise<never>((_, reject) => {
        held.lose = () => reject(new CommitUnknown('lost'));
      });
      let begun = 0;
      let holds = 0;
      // The first transaction's COMMIT takes long, and its outcome is given up before it has ended.
      const database: Database = Object.create(app.database, {
        transaction: {
          value: (work: (transaction: Transaction) => Promise<unknown>) => {
            const isFirst = begun++ === 0;
            const ended = app.database.transaction(async (transaction) => {
              const result = await work({
                id: transaction.id,
                query(text, parameters) {
                  if (text.includes('hold_heads')) holds += 1;
                  return transaction.query(text, parameters);
                },
              });
              if (isFirst) {
                held.sent();
                await released;
              }
              return result;
            });
            return isFirst ? Promise.race([lost, ended]) : ended;
          },
        },
      });
      const lane = createLane({ ...servicesOf(database), onCommitted: () => undefined });
      const first = lane.submit(update(app.workspaceId, id, { status: 'submitted' }));
      await sent;
      const second = lane.submit(creation(app.workspaceId));
      await expect.poll(() => holds).toBe(1);
      held.lose();
      await expect(first).rejects.toThrow(CommitUnknown);
      const third = lane.submit(update(app.workspaceId, id, { title: 'Drawings' }));
      await pause(200);
      held.release();
      expect(await Promise.all([second, third])).toMatchObject([{ status: 200 }, { status: 200 }]);
      await lane.close();
      expect(await app.ok('GET', `/v1/milestones/${publicId}`)).toMatchObject({ status: 'submitted', title: 'Drawings' });
    }));

  test('is carried out by itself when it found no connection while the one before had it', () =>
    withMilestone(async (app, id) => {
      const held = holdFirst(app.database, (begun) => {
        if (begun === 2) throw new DatabaseUnavailable('no connection became free');
      });
      const lane = createLane({ ...servicesOf(held.database), onCommitted: () => undefined });
      const first = lane.submit(update(app.workspaceId, id, { status: 'submitted' }));
      await held.isSent;
      const second = lane.submit(creation(app.workspaceId));
      second.catch(() => undefined);
      await expect.poll(held.begun).toBe(2);
      held.release();
      expect(await Promise.all([first, second])).toMatchObject([{ status: 200 }, { status: 200 }]);
      await lane.close();
    }));

  test('is left half of what is on its way, unless there is too little to share', () =>
    withMilestone(async (app) => {
      const sizes: number[] = [];
      const services = { ...servicesOf(app.database), onCommitted: () => undefined, onBatch: (commands: number) => sizes.push(commands) };
      const lane = createLane(services);
      await Promise.all(Array.from({ length: 64 }, () => lane.submit(creation(app.workspaceId))));
      expect(sizes.splice(0)).toEqual([32, 32]);
      await Promise.all(Array.from({ length: 20 }, () => lane.submit(creation(app.workspaceId))));
      expect(sizes.splice(0)).toEqual([20]);
      await lane.close();
    }));

  test('does not begin for a few', () =>
    withMilestone(async (app) => {
      const held = holdFirst(app.database);
      const lane = createLane({ ...servicesOf(held.database), onCommitted: () => undefined });
      const submit = (count: number): Promise<unknown>[] => Array.from({ length: count }, () => lane.submit(creation(app.workspaceId)));
      const outcomes = submit(10);
      await held.isSent;
      outcomes.push(...submit(6));
      await pause(50);
      expect(held.begun()).toBe(1);
      outcomes.push(...submit(1));
      await expect.poll(held.begun).toBe(2);
      held.release();
      expect(await Promise.all(outcomes)).toMatchObject(Array.from({ length: 17 }, () => ({ status: 200 })));
      await lane.close();
    }));

  test('asks for its lock only when the one before has its own, which it might else be given in its place', () =>
    withMilestone(async (app) => {
      const asked: string[][] = [];
      const first = holdBatch([creation(app.workspaceId)], 'skip', servicesOf(app.database));
      const second = holdBatch([creation(app.workspaceId)], await first.ahead, servicesOf(app.database));
      const third = runBatch([creation(app.workspaceId)], await second.ahead, servicesOf(recording(app.database, asked)));
      third.catch(() => undefined);
      await pause(100);
      expect(asked).toEqual([[]]);
      first.release();
      second.release();
      await Promise.all([first.ended, second.ended]);
      expect((await third).results).toEqual([{ outcome: answer() }]);
    }));

  test('comes to nothing, and leaves its connection in use, when the one before loses its own', () =>
    withMilestone(async (app) => {
      const asked: string[][] = [];
      const first = holdBatch([creation(app.workspaceId)], 'skip', servicesOf(app.database));
      const second = holdBatch([creation(app.workspaceId)], await first.ahead, servicesOf(app.database));
      second.ended.catch(() => undefined);
      const third = runBatch([creation(app.workspaceId)], await second.ahead, servicesOf(recording(app.database, asked)));
      third.catch(() => undefined);
      await expect.poll(() => asked.length).toBe(1);
      const inUse = async (where = ''): Promise<number[]> =>
        (await app.database.query<{ pid: number }>(`select pid from pg_stat_activity where datname = current_database() ${where}`)).map(
          ({ pid }) => pid,
        );
      await expect.poll(() => inUse(`and wait_event_type = 'Lock'`)).toHaveLength(1);
      const before = await inUse();
      const lost = await inUse(`and wait_event_type = 'Lock'`);
      await app.database.query('select pg_terminate_backend($1)', [lost[0]]);
      await expect(third).rejects.toThrow(TransactionAborted);
      first.release();
      second.release();
      await first.ended;
      const after = await inUse();
      expect(before.filter((pid) => !after.includes(pid))).toEqual(lost);
      expect(asked).toEqual([[]]);
    }));

  test('knows the calling keys that the one before knows', () =>
    withMilestone(async (app) => {
      const asked: string[][] = [];
      const called = { ...creation(app.workspaceId), keyId: await keyOf(app) };
      const first = holdBatch([called], 'skip', servicesOf(recording(app.database, asked)));
      const second = holdBatch([called], await first.ahead, servicesOf(recording(app.database, asked)));
      await second.ahead;
      first.release();
      second.release();
      await Promise.all([first.ended, second.ended]);
      const kinds = asked.map((texts) =>
        texts.map((text) => /skip locked|join api_keys|from workspaces|hold_heads|insert/.exec(text)?.[0]),
      );
      expect(kinds).toEqual([
        ['skip locked', 'from workspaces', 'join api_keys', 'insert'],
        ['hold_heads', 'insert'],
      ]);
    }));

  test('refuses a key that one further ahead has revoked', () =>
    withMilestone(async (app) => {
      const called = { ...creation(app.workspaceId), keyId: await keyOf(app) };
      const revocation = revokeApiKey(ownEnvelope(app.workspaceId, answer), called.keyId);
      const first = holdBatch([revocation], 'skip', servicesOf(app.database));
      const second = holdBatch([creation(app.workspaceId)], await first.ahead, servicesOf(app.database));
      const third = runBatch([called], await second.ahead, servicesOf(app.database));
      third.catch(() => undefined);
      await pause(100);
      first.release();
      second.release();
      await Promise.all([first.ended, second.ended]);
      expect((await third).results).toEqual([{ outcome: expect.objectContaining({ code: 'api_key_revoked' }) }]);
    }));
});
