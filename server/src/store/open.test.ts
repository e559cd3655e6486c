// Which database servers are accepted. That both kinds open is what every other test of the store shows.

import { expect, test } from 'vitest';
import type { Queryable } from './database.ts';
import { refuseOldServer, UnsupportedDatabase } from './open.ts';

const server = (number: number, version: string): Queryable => ({ query: async <Row>() => [{ number, version }] as Row[] });

test('a server older than PostgreSQL 15 is refused, with its version and what to do', async () => {
  const refused = refuseOldServer(server(140_011, '14.11'));
  await expect(refused).rejects.toThrow(UnsupportedDatabase);
  await expect(refused).rejects.toThrow(/14\.11.*15 or later.*DATABASE_URL/);
});

test('PostgreSQL 15 and later are accepted', async () => {
  await refuseOldServer(server(150_000, '15.0'));
  await refuseOldServer(server(180_001, '18.1'));
});
