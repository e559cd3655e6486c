// Where in a log that is in the order of time a moment stands, by asking for single entries.
// Knows no API: what reads an entry is handed in.

/** Enough for 2^40 entries. */
const MAX_STEPS = 40;
/** What a page holds is read faster than it is narrowed down. */
const CLOSE_ENOUGH = 100;

/** The last place in the log of which every event before it is older than the moment: by halves, since the log is in order. */
export async function placeBefore(
  moment: string,
  after: (seq: number) => Promise<{ readonly created_at: string } | undefined>,
): Promise<number> {
  const at = Date.parse(moment);
  const isBefore = async (seq: number): Promise<boolean> => {
    const event = await after(seq);
    return event !== undefined && Date.parse(event.created_at) < at;
  };
  let low = 0;
  let high = 1;
  for (let step = 0; step < MAX_STEPS && (await isBefore(high)); step++) {
    low = high;
    high *= 2;
  }
  while (high - low > CLOSE_ENOUGH) {
    const middle = low + Math.floor((high - low) / 2);
    if (await isBefore(middle)) low = middle;
    else high = middle;
  }
  return low;
}
