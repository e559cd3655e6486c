// How the service's sessions plan their statements, on both databases: by index, one row at a time, always.
// Every statement is written for an index; a plan made while a table was small must not scan it once it is large.

/**
 * Plans of prepared statements are kept. PostgreSQL would make some while tables are nearly empty, as scans and hash joins, and keep
 * them until its statistics are renewed, a minute or more after a first large load: measured as 5 to 80 times the time of a write.
 * `jit` would compile such statements anew for milliseconds each.
 */
export const plannerSettings = ['jit = off', 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off'];
