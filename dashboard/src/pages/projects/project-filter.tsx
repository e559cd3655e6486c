// Chooses a project by words of its name or its client, as a filter of a list of its records. In the address stands its id.
// Finds a few at a time; more words find the right one.

import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import { useProjectName } from './project-data.ts';

const REST_MS = 250;
const MAX_OFFERED = 20;

export function ProjectFilter(): ReactNode {
  const { words } = useWords();
  return words.project_id === undefined ? <Chooser key="none" chosen={null} /> : <Named key={words.project_id} id={words.project_id} />;
}

function Named({ id }: { readonly id: string }): ReactNode {
  const name = useProjectName(id);
  return <Chooser key={name} chosen={{ value: id, label: name ?? id }} />;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function Chooser({ chosen }: { readonly chosen: Choice | null }): ReactNode {
  const { set } = useWords();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(chosen?.label ?? '');
  const [wanted] = useDebouncedValue(text === chosen?.label ? '' : text.trim(), REST_MS);
  const { data: found = [], isFetching } = useQuery({
    queryKey: keys.other('projects', 'offered', wanted),
    enabled: isOpen,
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<readonly Choice[]> => {
      const { data } = await client.projects.list({ limit: MAX_OFFERED, ...(wanted === '' ? {} : { q: wanted }) });
      return data.map(({ id, name, client_id }) => ({ value: id, label: `${name} · ${client_id}` }));
    },
  });
  const others = found.filter(({ value }) => value !== chosen?.value);
  return (
    <Select
      aria-label="Project"
      placeholder="Project"
      data={chosen === null ? others : [chosen, ...others]}
      value={chosen?.value ?? null}
      onChange={(value) => set({ project_id: value ?? undefined })}
      searchable
      // The server has searched already.
      filter={({ options }) => options}
      searchValue={text}
      onSearchChange={setText}
      onDropdownOpen={() => setOpen(true)}
      nothingFoundMessage={isFetching ? 'Searching …' : 'No such project'}
      clearable
      clearButtonProps={{ 'aria-label': 'Clear Project' }}
      w={200}
    />
  );
}
