// The hours of the last day as bars, those in which nothing was asked included, and a share of the limit in words.
// Pure; the time is handed in.

import type { UsageHour } from '../../client/sdk.ts';
import type { Bar } from '../../ui/bar-chart.tsx';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const PERCENT = 100;

/** In the zone of the viewer; zones that lie half an hour beside the others show the hour in which it begins. */
const labelOf = (at: Date): string => String(at.getHours()).padStart(2, '0');

/** The last 24 hours, the current one included, as one bar for each `hoursPerBar`. */
export function hoursOfDay(hours: readonly UsageHour[], now: Date, hoursPerBar: 1 | 3): readonly Bar[] {
  const latest = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const first = latest - (HOURS - 1) * HOUR_MS;
  return Array.from({ length: HOURS / hoursPerBar }, (_, index) => {
    const at = first + index * hoursPerBar * HOUR_MS;
    const within = hours.filter(({ hour }) => new Date(hour).getTime() >= at && new Date(hour).getTime() < at + hoursPerBar * HOUR_MS);
    const value = within.reduce((sum, { requests }) => sum + requests, 0);
    return { label: labelOf(new Date(at)), value, text: value === 1 ? '1 request' : `${value} requests` };
  });
}

/** `12 %`, `< 1 %`. */
export function shareText(used: number, limit: number): string {
  const percent = (used / limit) * PERCENT;
  return used > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}
