// Reads by id: that those of one tick are one query, and that each gets its own record and nobody else's.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Uuid } from '../domain/ids.ts';
import { createByIdReader } from './by-id.ts';
import type { Queryable } from './database.ts';
import type { Source } from './lists.ts';

interface Thing {
  workspaceId: string;
  id: string;
}
const source: Source<Thing> = {
  select: 't.*',
  table: 'things',
  fromRow: (row) => ({ workspaceId: String(row.workspace_id), id: String(row.id) }),
};

/** Names of one letter or digit are shorter to read than ids: the last byte of an id is the name's. */
const idOf = (name: string): Uuid => `00000000-0000-7000-8000-0000000000${name.charCodeAt(0).toString(16)}`;

/** The names in a column of ids as it is sent: after a header of 20 bytes, each with its length before it. */
function namesOf(column: Buffer): string[] {
  const names: string[] = [];
  for (let end = 40; end <= column.length; end += 20) names.push(String.fromCharCode(column.readUInt8(end - 1)));
  return names;
}

function readerOf(queryable: Queryable, options?: { maxBatch: number }) {
  const read = createByIdReader(queryable, source, options);
  return (workspace: string, thing: string) => read(idOf(workspace), idOf(thing));
}

/** Holds the things 1 to 9 of the workspaces a and b, answers in no helpful order, and remembers what it was asked. */
function fakeDatabase() {
  const asked: string[][] = [];
  const queryable: Queryable = {
    async query<Row>(_text: string, parameters: readonly unknown[] = []) {
      const [workspaces = [], ids = []] = (parameters as Buffer[]).map(namesOf);
      asked.push(ids);
      const found = ids
        .map((id, i) => ({ place: i + 1, workspace_id: workspaces[i], id }))
        .filter((row) => /^[1-9]$/.test(row.id) && /^[ab]$/.test(row.workspace_id ?? ''));
      return found.reverse() as Row[];
    },
  };
  return { asked, queryable };
}

describe('reads by id', () => {
  test('that arrive in the same tick are one query, and each gets its own record', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = readerOf(queryable);
    const found = await Promise.all([read('a', '1'), read('b', '1'), read('a', '2'), read('a', '1')]);
    expect(found).toEqual([
      { workspaceId: 'a', id: '1' },
      { workspaceId: 'b', id: '1' },
      { workspaceId: 'a', id: '2' },
      { workspaceId: 'a', id: '1' },
    ]);
    expect(asked).toEqual([['1', '1', '2', '1']]);
  });

  test('from callbacks of the same turn of the event loop travel together too', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = readerOf(queryable);
    await Promise.all([read('a', '1'), Promise.resolve().then(() => read('a', '2'))]);
    expect(asked).toHaveLength(1);
  });

  test('answer null for what is absent or belongs to another workspace', async () => {
    const read = readerOf(fakeDatabase().queryable);
    expect(await Promise.all([read('a', 'x'), read('c', '1'), read('a', '1')])).toEqual([null, null, { workspaceId: 'a', id: '1' }]);
  });

  test('never ask for more than maxBatch in one query', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = readerOf(queryable, { maxBatch: 4 });
    const found = await Promise.all(Array.from({ length: 10 }, (_, i) => read('a', String((i % 9) + 1))));
    expect(found.every((thing) => thing !== null)).toBe(true);
    expect(asked.map((ids) => ids.length)).toEqual([4, 4, 2]);
  });

  test('leave as soon as maxBatch have come up, before the turn is over', () => {
    const { asked, queryable } = fakeDatabase();
    const read = readerOf(queryable, { maxBatch: 2 });
    void read('a', '1');
    expect(asked).toHaveLength(0);
    void read('a', '2');
    expect(asked).toEqual([['1', '2']]);
  });

  describe('that come while a query is under way', () => {
    /** A database whose every answer is held back until it is let go. */
    function heldDatabase() {
      const { asked, queryable } = fakeDatabase();
      const held: (() => void)[] = [];
      const holding: Queryable = {
        async query(text, parameters) {
          const rows = queryable.query(text, parameters);
          await new Promise<void>((resolve) => held.push(resolve));
          return (await rows) as never;
        },
      };
      return { asked, holding, letGo: () => held.shift()?.() };
    }
    // Only the patience of those who wait: turns of the event loop stay real.
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

    test('wait for its return and then travel together', async () => {
      const { asked, holding, letGo } = heldDatabase();
      const read = readerOf(holding);
      const first = read('a', '1');
      await turn();
      const others = [read('a', '2')];
      await turn();
      others.push(read('b', '3'));
      await turn();
      expect(asked).toEqual([['1']]);
      letGo();
      expect(await first).toEqual({ workspaceId: 'a', id: '1' });
      await turn();
      expect(asked).toEqual([['1'], ['2', '3']]);
      letGo();
      expect(await Promise.all(others)).toEqual([
        { workspaceId: 'a', id: '2' },
        { workspaceId: 'b', id: '3' },
      ]);
    });

    test('leave at once when they are maxBatch', async () => {
      const { asked, holding, letGo } = heldDatabase();
      const read = readerOf(holding, { maxBatch: 2 });
      const reads = [read('a', '1')];
      await turn();
      reads.push(read('a', '2'), read('a', '3'));
      expect(asked).toEqual([['1'], ['2', '3']]);
      letGo();
      letGo();
      expect(await Promise.all(reads)).not.toContain(null);
    });

    test('do not wait for one that is stuck', async () => {
      const { asked, holding, letGo } = heldDatabase();
      const read = readerOf(holding);
      const stuck = read('a', '1');
      await turn();
      const other = read('a', '2');
      await turn();
      vi.advanceTimersByTime(4);
      expect(asked).toEqual([['1']]);
      vi.advanceTimersByTime(1);
      expect(asked).toEqual([['1'], ['2']]);
      letGo();
      letGo();
      expect(await Promise.all([stuck, other])).not.toContain(null);
    });

    test('are asked for after one that failed', async () => {
      let fail: (error: Error) => void = () => {};
      const { queryable } = fakeDatabase();
      let count = 0;
      const flaky: Queryable = {
        query: (text, parameters) =>
          count++ === 0
            ? new Promise((_resolve, reject) => {
                fail = reject;
              })
            : queryable.query(text, parameters),
      };
      const read = readerOf(flaky);
      const failing = read('a', '1').catch((error: Error) => error.message);
      await turn();
      const other = read('a', '2');
      fail(new Error('gone'));
      expect(await failing).toBe('gone');
      expect(await other).toEqual({ workspaceId: 'a', id: '2' });
    });
  });

  test('are never answered from an earlier read', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = readerOf(queryable);
    await read('a', '1');
    await read('a', '1');
    expect(asked).toHaveLength(2);
  });

  test('all fail when their query fails, and the next ones are asked anew', async () => {
    const { queryable } = fakeDatabase();
    let broken = true;
    const flaky: Queryable = {
      query: (text, parameters) => (broken ? Promise.reject(new Error('gone')) : queryable.query(text, parameters)),
    };
    const read = readerOf(flaky);
    const outcomes = await Promise.allSettled([read('a', '1'), read('a', '2')]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await read('a', '1')).toEqual({ workspaceId: 'a', id: '1' });
  });
});
