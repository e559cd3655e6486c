// A process that asks a database (its address is the argument) many queries and says how much of their answers only a full collection would
// take from its memory; with `pg` behind the address, by pg's own promise. In a process of its own, since nothing else must make or leave
// anything meanwhile; with `--expose-gc`, and with flags by which no full collection comes unasked.

import { getHeapSpaceStatistics } from 'node:v8';
import pg from 'pg';
import { ask, limitAnswers } from '../../src/store/conversation.ts';

const [url, how] = process.argv.slice(2);
const QUERIES = 200;
const ROWS_BYTES = 50_000;

/** What collections of the young leave alone. */
function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name.startsWith('old') || space_name === 'large_object_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

const client = new pg.Client({ connectionString: url, pipeline: true });
await client.connect();
if (how === 'limited') limitAnswers(client, 30_000);
const send = (text: string, value: string): Promise<unknown> =>
  how === 'pg' ? client.query(text, [value]) : ask(client, { text, parameters: [value] });
// The first ones make what is kept for good: code, plans, shapes of objects.
for (let i = 0; i < QUERIES; i++) await send('select $1::text', 'x');
globalThis.gc?.();
const before = oldBytes();
for (let i = 1; i <= QUERIES; i++) {
  await send(`select repeat('x', $1 / 5) from generate_series(1, 5)`, String(ROWS_BYTES));
  if (i % 5 === 0) globalThis.gc?.({ type: 'minor' });
}
console.log((oldBytes() - before) / (QUERIES * ROWS_BYTES));
await client.end();
