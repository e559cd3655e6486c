// How a time is written wherever it leaves: RFC 3339 in UTC with milliseconds, the text of Date's own toISOString.
// Pure but for one remembered day: times of one answer, and of one hour, nearly always share it.

const DAY_MS = 86_400_000;
const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const twoAndColon = two.map((digits) => `${digits}:`);
/** `.789Z` */
const endings = Array.from({ length: 1000 }, (_, number) => `.${String(number).padStart(3, '0')}Z`);

let day = Number.NaN;
/** `2026-01-31T` of that day. */
let dayText = '';

/** `2026-01-31T12:34:56.789Z`; a third of the time of toISOString, which every answer would spend several times. */
export function formatTimestamp(moment: Date): string {
  const ms = moment.getTime();
  const its = Math.floor(ms / DAY_MS);
  if (its !== day) {
    const text = moment.toISOString(); // Throws for an invalid time, before anything is remembered.
    dayText = text.slice(0, text.indexOf('T') + 1);
    day = its;
  }
  const rest = ms - its * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  // The time of the day by itself: texts of up to twelve characters are plain to the engine, longer sums are trees that it has to walk.
  const time = (twoAndColon[Math.floor(minutes / 60)] as string) + twoAndColon[minutes % 60] + two[seconds % 60];
  return dayText + time + endings[rest % 1000];
}
