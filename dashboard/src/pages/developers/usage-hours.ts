// The hours of the last day as bars, those in which nothing was asked included, and a share of the limit in words.
// Pure; the time is handed in.

import type { UsageHour } from '../../client/sdk.ts';
import type { Bar } from '../../ui/bar-chart.tsx';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const PERCENT = 100;

/** In the zone of the viewer; zones that lie half an hour beside the others show the hour in which it begins. */
const labelOf = (at: Date): string => String(at.getHours()).padStart(2, '0');

export function hoursOfDay(hours: readonly UsageHour[], now: Date): readonly Bar[] {
  const counts = new Map(hours.map(({ hour, requests }) => [new Date(hour).getTime(), requests]));
  const latest = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  return Array.from({ length: HOURS }, (_, index) => {
    const at = latest - (HOURS - 1 - index) * HOUR_MS;
    const value = counts.get(at) ?? 0;
    return { label: labelOf(new Date(at)), value, text: value === 1 ? '1 request' : `${value} requests` };
  });
}

/** `12 %`, `< 1 %`. */
export function shareText(used: number, limit: number): string {
  const percent = (used / limit) * PERCENT;
  return used > 0 && percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}
