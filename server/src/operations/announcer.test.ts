// Announcements: the first at once, those of a busy time together, and none lost when the database is away for a moment.

import { expect, test } from 'vitest';
import type { Database } from '../store/database.ts';
import { createAnnouncer } from './announcer.ts';

/** Remembers what it was told; refuses the first `failures` times. */
function fakeDatabase(failures = 0) {
  const told: string[] = [];
  const database = {
    notify: async (channel: string, payload: string) => {
      if (failures-- > 0) throw new Error('gone');
      told.push(`${channel} ${payload}`);
    },
  } as Pick<Database, 'notify'> as Database;
  return { told, database };
}

test('the first commit is told at once, and those of the next moments together', async () => {
  const { told, database } = fakeDatabase();
  const announcer = createAnnouncer(database, () => undefined);
  announcer.announce({ workspaces: ['a'], keys: [], members: false, hints: new Map() });
  expect(told).toEqual(['events a']);
  for (const workspace of ['b', 'c', 'b', 'a']) announcer.announce({ workspaces: [workspace], keys: [], members: false, hints: new Map() });
  await announcer.settled();
  expect(told).toEqual(['events a', 'events b,c,a']);
});

test('a changed key is told, too', async () => {
  const { told, database } = fakeDatabase();
  const announcer = createAnnouncer(database, () => undefined);
  announcer.announce({ workspaces: [], keys: [{ workspaceId: 'w', id: 'k' }], members: false, hints: new Map() });
  await announcer.settled();
  expect(told).toEqual(['keys w:k']);
});

test('what could not be told is told again, once', async () => {
  const { told, database } = fakeDatabase(1);
  const errors: unknown[] = [];
  const announcer = createAnnouncer(database, (error) => errors.push(error));
  announcer.announce({ workspaces: ['a'], keys: [], members: false, hints: new Map() });
  await announcer.settled();
  expect(errors).toHaveLength(1);
  expect(told).toEqual(['events a']);
});
