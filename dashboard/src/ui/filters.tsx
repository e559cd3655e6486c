// The filters above a table. Each is a word of the address, so that a link and the way back keep them.
// They ask for nothing: the page hands the words to its list.

import { Button, Group, Select, TextInput } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../app/words.ts';
import { Icon } from './icon.tsx';

/** Typing rests for this long before it is asked for. */
const REST_MS = 250;

/** The search field of the page; `/` goes to it. */
export function SearchFilter({ word = 'q', label }: { readonly word?: string; readonly label: string }): ReactNode {
  const { words, set } = useWords();
  const current = words[word] ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text === current) return;
    const timer = setTimeout(() => set({ [word]: text }), REST_MS);
    return () => clearTimeout(timer);
  }, [text, current, word, set]);
  return (
    <TextInput
      type="search"
      data-page-search
      aria-label={label}
      placeholder={label}
      value={text}
      leftSection={<Icon name="search" size={16} />}
      onChange={(change) => setText(change.currentTarget.value)}
      miw={180}
      flex="1 1 220px"
      maw={360}
    />
  );
}

export interface SelectFilterProps {
  readonly word: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SelectFilter({ word, label, options }: SelectFilterProps): ReactNode {
  const { words, set } = useWords();
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={[...options]}
      value={words[word] ?? null}
      onChange={(value) => set({ [word]: value ?? undefined })}
      clearable
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      w={170}
    />
  );
}

/** A text that must be met exactly, such as an id. */
export function TextFilter({ word, label }: { readonly word: string; readonly label: string }): ReactNode {
  const { words, set } = useWords();
  return (
    <TextInput
      key={words[word] ?? ''}
      aria-label={label}
      placeholder={label}
      defaultValue={words[word] ?? ''}
      onBlur={(left) => set({ [word]: left.currentTarget.value.trim() })}
      onKeyDown={(press) => {
        if (press.key === 'Enter') set({ [word]: press.currentTarget.value.trim() });
      }}
      w={170}
    />
  );
}

/** A calendar day as the lower or upper end. */
export function DayFilter({ word, label }: { readonly word: string; readonly label: string }): ReactNode {
  const { words, set } = useWords();
  return (
    <TextInput
      type="date"
      aria-label={label}
      title={label}
      value={words[word] ?? ''}
      onChange={(change) => set({ [word]: change.currentTarget.value })}
      w={150}
    />
  );
}

/** The filters side by side, and the way back to none. `names` are their words. */
export function FilterBar({ names, children }: { readonly names: readonly string[]; readonly children: ReactNode }): ReactNode {
  const { words, set } = useWords();
  const isFiltered = names.some((name) => words[name] !== undefined);
  return (
    <Group gap="xs" mb="sm">
      {children}
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={() => set(Object.fromEntries(names.map((name) => [name, undefined])))}>
          Clear
        </Button>
      )}
    </Group>
  );
}
