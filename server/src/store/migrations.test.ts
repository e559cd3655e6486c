// The migrations that are shipped: found, in order, whole. That they apply and exclude each other is tested on both databases in test/store.test.ts.

import { expect, test } from 'vitest';
import { readMigrations } from './migrations.ts';

test('every migration of the build is read, in the order of the names', async () => {
  const migrations = await readMigrations();
  const names = migrations.map(({ name }) => name);
  expect(names[0]).toBe('0001_initial');
  expect(names).toEqual(names.toSorted());
  expect(migrations.every(({ sql }) => sql.trim().length > 0)).toBe(true);
});
