// What a PostgreSQL server does in background processes and the embedded one has nobody for: checkpoints, vacuum, statistics.
// Without it the log grows for ever, recovery takes ever longer and updated tables fill with dead rows.

import type { Queryable } from './database.ts';

/** As much log as a start after a crash replays within a second or two. */
const CHECKPOINT_AFTER_BYTES = 64 * 1024 * 1024;
/** Settles what a quiet service wrote since. */
const CHECKPOINT_AFTER_S = 300;

const pendingLogText =
  'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes, ' +
  'extract(epoch from now() - checkpoint_time)::float8 as age_s from pg_control_checkpoint()';

// The thresholds of autovacuum, somewhat larger for small tables. One table a time, the worst first, since it stops the process meanwhile.
const neglectedTableText = `
  select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_all_tables s on s.relid = c.oid
  where c.relkind = 'r' and c.relpersistence <> 't' and (
    s.n_dead_tup > 1000 + 0.2 * greatest(c.reltuples, 0)
    or s.n_ins_since_vacuum > 10000 + 0.2 * greatest(c.reltuples, 0)
    or s.n_mod_since_analyze > 500 + 0.1 * greatest(c.reltuples, 0)
    or age(c.relfrozenxid) > 200000000)
  order by age(c.relfrozenxid) > 200000000 desc, s.n_dead_tup desc nulls last
  limit 1`;

/** Does at most one checkpoint and one table's vacuum. Each statement may take its own turn: none needs the one before. */
export async function maintain(database: Queryable): Promise<void> {
  const [log] = await database.query<{ bytes: number; age_s: number }>(pendingLogText);
  const due = log !== undefined && (log.bytes > CHECKPOINT_AFTER_BYTES || (log.bytes > 1_000 && log.age_s > CHECKPOINT_AFTER_S));
  if (due) await database.query('checkpoint');
  const [table] = await database.query<{ name: string }>(neglectedTableText);
  if (table !== undefined) await database.query(`vacuum (analyze) ${table.name}`);
}
