// How the service's sessions plan their statements, on both databases: by index, one row at a time, always.
// Every statement is written for an index; a plan made while a table was small must not scan it once it is large.

/**
 * Plans of prepared statements are kept. PostgreSQL would make some while tables are nearly empty, as scans and hash joins, and keep
 * them until its statistics are renewed, a minute or more after a first large load: measured as 6 to 30 times the time.
 * `jit` would compile such statements anew for milliseconds each.
 */
export const plannerSettings = ['jit = off', 'enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off'];

/**
 * For every transaction with a server: each statement keeps to one plan from the first time on. Left to itself PostgreSQL plans a statement
 * over a few rows anew each time, because a kept plan is made for ten and looks dearer: 0.7 of the 1.8 ms of an approval that comes alone.
 */
export const KEPT_PLANS = `set_config('plan_cache_mode', 'force_generic_plan', true)`;

/**
 * For a transaction of statements that run many times a second over the queue: kept plans with the embedded database too, since planning took
 * a claim nearly as long as running it; and it reads in the order of an index and sorts nothing that an index could give in order. The
 * queue goes from empty to a million rows faster than its statistics: a plan that would sort the few rows it expects reads them all.
 */
export const QUEUE_PLANS = `${KEPT_PLANS}, set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`;

/**
 * How statements outside of transactions are planned. PostgreSQL makes a plan for the values at hand whenever it believes that such a plan is
 * the better one, and of a page, whose limit it does not know beforehand, it does so each time: two fifths of what a page cost it. What is
 * written for one index, whatever the values, keeps its plan; for all else the choice is left to PostgreSQL.
 */
export type Planning = 'kept' | 'chosen';

const planCacheModes: Readonly<Record<Planning, string>> = { kept: 'force_generic_plan', chosen: 'auto' };

const FIRST_PLAN_AGE_MS = 1_000;
const MAX_PLAN_AGE_MS = 10_000;

/** Drops a session's kept plans, those of statements inside triggers too; each is made anew when next used. */
const discardPlans = 'discard plans';

/**
 * The plans of one session. They are old enough to be dropped after a second at first, then after ever longer, up to ten: even among indexes
 * a plan for a nearly empty table may choose one that is bad for a full one.
 */
export class SessionPlans {
  #planning: Planning = 'chosen';
  #ageMs = FIRST_PLAN_AGE_MS;
  #endsAt = Date.now() + FIRST_PLAN_AGE_MS;

  /** What is to be sent ahead of the next statement, which wants to be planned so; left out where it says so itself. Each is told once. */
  ahead(planning = this.#planning): string[] {
    const commands: string[] = [];
    if (planning !== this.#planning) commands.push(`set plan_cache_mode = ${planCacheModes[planning]}`);
    this.#planning = planning;
    const now = Date.now();
    if (now < this.#endsAt) return commands;
    this.#ageMs = Math.min(2 * this.#ageMs, MAX_PLAN_AGE_MS);
    this.#endsAt = now + this.#ageMs;
    return [...commands, discardPlans];
  }
}
