// Batches that are decided while the one before commits, on a real PostgreSQL: what they find, and what becomes of them when it fails.
// Some tests play the lane themselves, to stop between two batches; the others let it run against a second one.

import { describe, expect, test } from 'vitest';
import { type BatchServices, runBatch } from '../src/commands/batch.ts';
import { type AnyCommand, ownEnvelope } from '../src/commands/command.ts';
import { createProject } from '../src/commands/create-project.ts';
import { createLane } from '../src/commands/lane.ts';
import type { Ahead } from '../src/commands/open-working-set.ts';
import { updateMilestone } from '../src/commands/update-milestone.ts';
import { decodeId, type Uuid } from '../src/domain/ids.ts';
import { newId } from '../src/open-store.ts';
import type { Database, Transaction } from '../src/store/database.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { holdBatch } from './support/hold-batch.ts';

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');
const cipher = { seal: (text: string) => text, open: (text: string) => text };
const project = { name: 'Website', clientId: 'acme', payeeId: null, currency: null, release: 'on_approval', metadata: {} } as const;
const milestone = { title: 'Design', description: null, amountMinor: 100n, currency: null, payeeId: null, dueDate: null, metadata: {} };
const answer = (): { status: number; headers: Record<string, string>; body: string } => ({ status: 200, headers: {}, body: '' });

const creation = (workspaceId: Uuid, milestones = 1): AnyCommand =>
  createProject(ownEnvelope(workspaceId, answer), { ...project, milestones: new Array(milestones).fill(milestone) });
const move = (workspaceId: Uuid, id: Uuid, status: 'submitted' | 'approved'): AnyCommand =>
  updateMilestone(ownEnvelope(workspaceId, answer), id, { status }, null);

const servicesOf = (database: Database): BatchServices => ({ database, clock: () => new Date(), newId, cipher });

const hold = (commands: readonly AnyCommand[], mode: 'skip' | Ahead, database: Database) => holdBatch(commands, mode, servicesOf(database));

const projects = async (app: TestApp): Promise<number> => (await app.ok('GET', '/v1/projects?limit=100')).data.length;

describe.skipIf(postgres?.available !== true)('a batch behind another one whose commit is under way', () => {
  async function withApp(work: (app: TestApp) => Promise<void>): Promise<void> {
    const app = await openTestApp({ database: 'PostgreSQL' });
    try {
      await work(app);
      expect(await app.faults()).toEqual([]);
    } finally {
      await app.stop();
    }
  }

  test('goes on from the numbers and records that the one before leaves, and commits after it', () =>
    withApp(async (app) => {
      const { id: publicId } = (await bringMilestone(app, 'pending')).milestone;
      const id = decodeId('milestone', publicId) as Uuid;
      const first = hold([move(app.workspaceId, id, 'submitted')], 'skip', app.database);
      const ahead = await first.ahead;
      let second = 'waits';
      const behind = runBatch([move(app.workspaceId, id, 'approved')], ahead, servicesOf(app.database)).then((batch) => {
        second = 'committed';
        return batch;
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect([second, (await app.ok('GET', `/v1/milestones/${publicId}`)).status]).toEqual(['waits', 'pending']);
      first.release();
      await first.ended;
      expect((await behind).results).toEqual([{ outcome: answer() }]);
      expect((await app.ok('GET', `/v1/milestones/${publicId}`)).status).toBe('approved');
      expect((await app.ok('GET', '/v1/events')).data.map((event: { seq: number }) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    }));

  test('changes nothing when the one before is rolled back', () =>
    withApp(async (app) => {
      const first = hold([creation(app.workspaceId)], 'skip', app.database);
      const behind = runBatch([creation(app.workspaceId)], await first.ahead, servicesOf(app.database));
      behind.catch(() => undefined);
      first.release(new Error('rolled back'));
      await expect(first.ended).rejects.toThrow('rolled back');
      await expect(behind).rejects.toMatchObject({ sqlstate: '40001' });
      expect(await projects(app)).toBe(0);
    }));

  test('changes nothing when somebody else wrote to the workspace in between, and repeats by itself well', () =>
    withApp(async (app) => {
      const first = hold([creation(app.workspaceId)], 'skip', app.database);
      const ahead = await first.ahead;
      first.release();
      await first.ended;
      await app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
      const behind = runBatch([creation(app.workspaceId)], ahead, servicesOf(app.database));
      await expect(behind).rejects.toMatchObject({ sqlstate: '40001' });
      expect(await projects(app)).toBe(2);
      await runBatch([creation(app.workspaceId)], 'skip', servicesOf(app.database));
      expect(await projects(app)).toBe(3);
    }));

  test('is not taken in by a transaction of the same number, as a crash of the database may bring one about', () =>
    withApp(async (app) => {
      const lost = hold([creation(app.workspaceId)], 'skip', app.database);
      const { set } = await lost.ahead;
      lost.release(new Error('lost'));
      await expect(lost.ended).rejects.toThrow('lost');
      await app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
      const [head] = await app.database.query<{ writer: string }>('select xmin::text as writer from workspace_heads');
      const ahead = { set, writer: head?.writer as string, held: Promise.resolve() };
      const behind = runBatch([creation(app.workspaceId)], ahead, servicesOf(app.database));
      await expect(behind).rejects.toMatchObject({ sqlstate: '40001' });
      expect(await projects(app)).toBe(1);
    }));

  test('does not wait for another process that holds a workspace which the one before did not have', () =>
    withApp(async (app) => {
      const other = await app.addWorkspace();
      const first = hold([creation(app.workspaceId)], 'skip', app.database);
      const intruder = hold([creation(other.id)], 'skip', app.database);
      await intruder.ahead;
      const behind = runBatch([creation(app.workspaceId), creation(other.id)], await first.ahead, servicesOf(app.database));
      behind.catch(() => undefined);
      first.release();
      await expect(behind).rejects.toMatchObject({ sqlstate: '40001' });
      intruder.release();
      await Promise.all([first.ended, intruder.ended]);
      expect(await projects(app)).toBe(1);
    }));

  test('two lanes that write to one workspace at once answer every command once, with books that hold', () =>
    withApp(async (app) => {
      let behind = 0;
      const counting: Database = Object.create(app.database, {
        transaction: {
          value: (work: (transaction: Transaction) => Promise<unknown>) =>
            app.database.transaction((transaction) =>
              work({
                id: transaction.id,
                query: (text, parameters) => {
                  if (text.includes('hold_heads')) behind += 1;
                  return transaction.query(text, parameters);
                },
              }),
            ),
        },
      });
      const services = { ...servicesOf(counting), onCommitted: () => undefined };
      const one = createLane(services);
      // Alone first, so that batches do follow one another; then both.
      const write = async (lane: typeof one, count: number): Promise<void> => {
        for (let i = 0; i < count; i++) expect(await lane.submit(creation(app.workspaceId, 2))).toMatchObject({ status: 200 });
      };
      await Promise.all(Array.from({ length: 8 }, () => write(one, 10)));
      expect(behind).toBeGreaterThan(0);
      const two = createLane(services);
      await Promise.all(Array.from({ length: 16 }, (_, i) => write(i % 2 === 0 ? one : two, 10)));
      await Promise.all([one.close(), two.close()]);
      const [books] = await app.database.query<{ projects: bigint; last: bigint }>(
        'select (select count(*) from projects) as projects, (select event_seq from workspace_heads) as last',
      );
      expect(books).toEqual({ projects: 240n, last: 720n });
    }));
});
