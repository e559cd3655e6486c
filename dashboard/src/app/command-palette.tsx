// The command palette: pages, commands, records by their id, and what the areas find by words. Loaded when it is first opened.
// Finds and goes; what a command does is its area's.

import '@mantine/spotlight/styles.css';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Scope } from '../client/sdk.ts';
import { type Session, useSession } from '../session/session.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import type { Area, FoundRecord } from './area.ts';
import { useAreas } from './areas-context.ts';

interface Entry {
  readonly label: string;
  readonly words: string;
  readonly icon: IconName;
  readonly run: () => void;
}

function entriesOf(
  areas: readonly Area[],
  { account, can }: Pick<Session, 'account' | 'can'>,
  go: (href: string) => void,
): readonly Entry[] {
  const allowed = ({ scope }: { readonly scope?: Scope }): boolean => scope === undefined || can(scope);
  return areas.flatMap(({ group, nav, commands = [] }) => [
    ...commands
      .filter((command) => allowed(command) && command.isFor?.(account) !== false)
      .map(({ label, words = '', icon = 'chevron', run }) => ({ label, words, icon, run: () => run({ go }) }) satisfies Entry),
    ...nav
      .filter(allowed)
      .map(({ label, icon, to }) => ({ label: `Go to ${label}`, words: group ?? '', icon, run: () => go(to) }) satisfies Entry),
  ]);
}

/** Where an id leads, by its prefix. */
function recordOf(areas: readonly Area[], text: string): FoundRecord | null {
  const id = text.trim();
  const prefix = /^([a-z]+)_[0-9a-zA-Z]{8,}$/.exec(id)?.[1];
  const leads = areas.map(({ records }) => records?.[prefix ?? '']).find((lead) => lead !== undefined);
  return leads === undefined ? null : { id, label: `Open ${id}`, href: leads(id) };
}

const MIN_LETTERS = 2;

const [store, { open, close }] = createSpotlight();

export function CommandPalette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const areas = useAreas();
  const session = useSession();
  const router = useRouter();
  const [text, setText] = useState('');
  // It exists only while it is open; the shell decides when.
  useEffect(() => {
    open();
    return close;
  }, []);
  const go = (href: string): void => router.history.push(href);
  const wanted = text.toLowerCase().trim();
  const entries = entriesOf(areas, session, go).filter(({ label, words }) => `${label} ${words}`.toLowerCase().includes(wanted));
  const record = recordOf(areas, text);
  const { data: found = [] } = useQuery({
    queryKey: ['palette', 'find', wanted],
    enabled: wanted.length >= MIN_LETTERS && record === null,
    queryFn: async ({ signal }) => {
      const answers = await Promise.allSettled(areas.map(({ find }) => find?.(wanted, signal) ?? []));
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    },
  });
  const records = record === null ? found : [record];
  return (
    <Spotlight.Root
      store={store}
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      attributes={{ content: { 'aria-label': 'Search and commands' } }}
      query={text}
      onQueryChange={setText}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        aria-label="Search or run a command"
        placeholder="Search, paste an id, or run a command"
        leftSection={<Icon name="search" />}
      />
      <Spotlight.ActionsList>
        {records.map(({ id, label, detail, href }) => (
          <Spotlight.Action key={id} label={label} description={detail} onClick={() => go(href)} leftSection={<Icon name="external" />} />
        ))}
        {entries.map(({ label, icon, run }) => (
          <Spotlight.Action key={label} label={label} onClick={run} leftSection={<Icon name={icon} />} />
        ))}
        {records.length + entries.length === 0 && <Spotlight.Empty>Nothing was found</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
