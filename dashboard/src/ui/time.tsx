// Shows a moment in the viewer's zone, with UTC on hover and on focus.
// The texts come from ui/moments.ts.

import { Tooltip } from '@mantine/core';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import { clockText, dateAndTimeText, dateText, dayText, relativeText, utcText } from './moments.ts';

/** Inside of a row that itself takes the focus, a stop at every time would only be in the way. */
export const PlainTimes = createContext(false);

export interface TimeProps {
  /** RFC 3339, as the API answers it; null shows a dash. */
  readonly at: string | null;
  readonly as?: 'date' | 'date-and-time' | 'clock' | 'relative';
}

const texts = { date: dateText, 'date-and-time': dateAndTimeText, clock: clockText };

export function Time({ at, as = 'date-and-time' }: TimeProps): ReactNode {
  const isPlain = useContext(PlainTimes);
  if (at === null) return <span>–</span>;
  const moment = new Date(at);
  const shown = as === 'relative' ? <Ago at={moment} /> : texts[as](moment);
  const hint = as === 'date-and-time' ? utcText(moment) : `${dateAndTimeText(moment)} · ${utcText(moment)}`;
  if (isPlain) {
    return (
      <time dateTime={at} title={hint}>
        {shown}
      </time>
    );
  }
  return (
    <Tooltip label={hint} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses the keyboard alone is told UTC too. */}
      <time dateTime={at} tabIndex={0}>
        {shown}
      </time>
    </Tooltip>
  );
}

/** A calendar day, YYYY-MM-DD: the same day everywhere. */
export function Day({ day }: { readonly day: string | null }): ReactNode {
  return day === null ? <span>–</span> : <time dateTime={day}>{dayText(day)}</time>;
}

const TICK_MS = 30_000;
const tickers = new Set<() => void>();
let now = Date.now();
setInterval(() => {
  now = Date.now();
  for (const tick of tickers) tick();
}, TICK_MS);

function Ago({ at }: { readonly at: Date }): ReactNode {
  const seenAt = useSyncExternalStore(
    (changed) => {
      tickers.add(changed);
      return () => void tickers.delete(changed);
    },
    () => now,
  );
  return relativeText(at, new Date(Math.max(seenAt, Math.min(at.getTime(), Date.now()))));
}
