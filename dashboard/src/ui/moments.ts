// Moments as text: in the viewer's own zone and language, in UTC, and as a distance from now.
// Pure; `now` is handed in.

const date = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
const dateAndTime = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const exact = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

export const dateText = (at: Date): string => date.format(at);
export const dateAndTimeText = (at: Date): string => dateAndTime.format(at);
export const clockText = (at: Date): string => exact.format(at);

/** `2026-03-01 14:05:09 UTC`. */
export const utcText = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A calendar day, YYYY-MM-DD, which has no zone. */
export const dayText = (calendarDay: string): string => day.format(new Date(`${calendarDay}T00:00:00Z`));

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** `3 min. ago`, `in 2 days`. */
export function relativeText(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1_000;
  for (const [unit, length] of steps) if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  return relative.format(Math.trunc(seconds), 'second');
}
