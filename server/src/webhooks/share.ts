// How the places of a worker are shared out among the endpoints that have something due.
// Pure; knows no database and no delivery.

/** What of the places endpoints share; the rest is kept for endpoints that have nothing under way, each taking one. */
const SHARED_SHARE = 7 / 8;

export interface Asking {
  /** Attempts that this worker has under way to it. */
  readonly busy: number;
  /** How many more it may be sent. */
  readonly room: number;
  /** Since when the longest waiting delivery has been due. */
  readonly dueAt: Date;
}

/**
 * How many places each gets, in the order given. Those with the fewest attempts under way come first, then those that wait the longest,
 * one place each in turn; a backlog, however long, is worth no more than a single delivery. So many endpoints get one at most: by the same
 * order, so that none is passed over twice.
 */
export function shareOut(
  asking: readonly Asking[],
  places: { readonly total: number; readonly taken: number },
  mostEndpoints: number,
): number[] {
  const shares = asking.map(() => 0);
  const turns = asking
    .map(({ busy, room, dueAt }, index) => ({ index, busy, room, dueMs: dueAt.getTime() }))
    .filter(({ room }) => room > 0)
    .sort((a, b) => a.busy - b.busy || a.dueMs - b.dueMs)
    .slice(0, mostEndpoints);
  let free = Math.max(0, places.total - places.taken);
  let shared = Math.max(0, Math.ceil(places.total * SHARED_SHARE) - places.taken);
  const give = (index: number): void => {
    shares[index] = (shares[index] as number) + 1;
    free -= 1;
    shared -= 1;
  };
  for (const { index, busy } of turns) {
    if (free === 0) break;
    if (busy === 0) give(index);
  }
  // Level by level: whoever has least is next, so that what is under way evens out.
  for (let level = 1; free > 0 && shared > 0; level += 1) {
    const behind = turns.filter(({ index, busy, room }) => (shares[index] as number) < room && busy + (shares[index] as number) <= level);
    for (const { index } of behind) if (free > 0 && shared > 0) give(index);
    if (behind.length === 0 && turns.every(({ index, room }) => (shares[index] as number) >= room)) break;
  }
  return shares;
}
