// Days and months of a time zone: when they begin, and which day a moment is.
// Pure; asks the time zone database that comes with Node, never the machine's own zone or clock.

const MAX_ZONE_LENGTH = 64;

const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 1_000;

/** Whether the name is one of the IANA database: offsets such as `+01:00` are not. */
export function isTimeZone(name: string): boolean {
  if (name.length > MAX_ZONE_LENGTH || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  if (formats.size < MAX_FORMATS) formats.set(zone, format);
  return format;
}

/** What clocks in the zone show at a moment, as if it were UTC. */
function wallTimeOf(ms: number, zone: string): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** `2026-03-31`: the day of a moment. */
export function dayOf(moment: Date, zone: string): string {
  return new Date(wallTimeOf(moment.getTime(), zone)).toISOString().slice(0, 10);
}

/** The first moment of a day, given as if it were UTC; where clocks leap over midnight, the moment they leap to. */
function beginningOf(wallMs: number, zone: string): Date {
  let ms = wallMs;
  // Twice, since the offset at the first guess may be that of the other side of a change of clocks.
  for (let round = 0; round < 2; round++) ms += wallMs - wallTimeOf(ms, zone);
  return new Date(ms);
}

export interface Month {
  /** `2026-03`. */
  readonly name: string;
  readonly from: Date;
}

/** The month of a moment and those before it, oldest first. Each ends where the next begins. */
export function monthsUntil(moment: Date, zone: string, count: number): Month[] {
  const [year, month] = dayOf(moment, zone).split('-').map(Number) as [number, number];
  return Array.from({ length: count }, (_, i) => {
    const first = Date.UTC(year, month - 1 - (count - 1 - i), 1);
    return { name: new Date(first).toISOString().slice(0, 7), from: beginningOf(first, zone) };
  });
}
