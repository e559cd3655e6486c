// Reads by id: that those of one tick are one query, and that each gets its own record and nobody else's.

import { describe, expect, test } from 'vitest';
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

/** Holds the things 1 to 9 of the workspaces a and b, answers in no helpful order, and remembers what it was asked. */
function fakeDatabase() {
  const asked: string[][] = [];
  const queryable: Queryable = {
    async query<Row>(_text: string, parameters: readonly unknown[] = []) {
      const [workspaces, ids] = parameters as [string[], string[]];
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
    const read = createByIdReader(queryable, source);
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
    const read = createByIdReader(queryable, source);
    await Promise.all([read('a', '1'), Promise.resolve().then(() => read('a', '2'))]);
    expect(asked).toHaveLength(1);
  });

  test('answer null for what is absent or belongs to another workspace', async () => {
    const read = createByIdReader(fakeDatabase().queryable, source);
    expect(await Promise.all([read('a', 'x'), read('c', '1'), read('a', '1')])).toEqual([null, null, { workspaceId: 'a', id: '1' }]);
  });

  test('never ask for more than maxBatch in one query', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = createByIdReader(queryable, source, { maxBatch: 4 });
    const found = await Promise.all(Array.from({ length: 10 }, (_, i) => read('a', String((i % 9) + 1))));
    expect(found.every((thing) => thing !== null)).toBe(true);
    expect(asked.map((ids) => ids.length)).toEqual([4, 4, 2]);
  });

  test('leave as soon as maxBatch have come up, before the turn is over', () => {
    const { asked, queryable } = fakeDatabase();
    const read = createByIdReader(queryable, source, { maxBatch: 2 });
    void read('a', '1');
    expect(asked).toHaveLength(0);
    void read('a', '2');
    expect(asked).toEqual([['1', '2']]);
  });

  test('are never answered from an earlier read', async () => {
    const { asked, queryable } = fakeDatabase();
    const read = createByIdReader(queryable, source);
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
    const read = createByIdReader(flaky, source);
    const outcomes = await Promise.allSettled([read('a', '1'), read('a', '2')]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await read('a', '1')).toEqual({ workspaceId: 'a', id: '1' });
  });
});
