// Days as they stand in the address, as the moments that the API asks for: from the first of the one to the last of the other, in the viewer's zone.
// Pure.

/** What a filter of days means in moments. The API takes what is later than the one and earlier than the other, so both days are whole. */
export function momentsOf(from: string | undefined, until: string | undefined): { created_after?: string; created_before?: string } {
  const first = startOf(from, 0);
  const last = startOf(until, 1);
  return {
    ...(first === null ? {} : { created_after: new Date(first.getTime() - 1).toISOString() }),
    ...(last === null ? {} : { created_before: last.toISOString() }),
  };
}

/** Midnight of a calendar day, or of one some days later; null for what is no day. */
function startOf(day: string | undefined, later: number): Date | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '');
  if (parts === null) return null;
  const [, year, month, date] = parts.map(Number) as [number, number, number, number];
  const start = new Date(year, month - 1, date + later);
  // A day that no calendar has would quietly become another.
  const named = new Date(year, month - 1, date);
  return named.getMonth() === month - 1 && named.getDate() === date ? start : null;
}
