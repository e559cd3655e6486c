// The words of the address's search as state: filters, what is open, what is sorted. Reading and changing them is reading and changing the page.
// Knows no route; a route that wants its words typed uses its own `useSearch`.

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { stringifySearch } from './search.ts';

export type Words = Readonly<Record<string, string | undefined>>;

export interface WordState {
  readonly words: Words;
  /** Sets these, keeps the others, and leaves out what is empty. Filters replace the entry of the history; `push` makes a new one. */
  readonly set: (changes: Words, push?: 'push') => void;
  /** The address of this page with these words changed, for links: `href({ open: payment.id })`. */
  readonly href: (changes: Words) => string;
}

const filled = (words: Words): Record<string, string> =>
  Object.fromEntries(Object.entries(words).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''));

export function useWords(): WordState {
  const words = useSearch({ strict: false }) as Words;
  const navigate = useNavigate();
  const set = useCallback(
    (changes: Words, push?: 'push') => {
      const search = (before: Words): never => filled({ ...before, ...changes }) as never;
      void navigate({ to: '.', search, replace: push === undefined, resetScroll: false } as never);
    },
    [navigate],
  );
  return useMemo(() => {
    const href = (changes: Words): string => location.pathname + stringifySearch(filled({ ...words, ...changes }));
    return { words, set, href };
  }, [words, set]);
}
