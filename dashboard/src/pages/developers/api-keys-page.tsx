// The keys of the workspace: who may call the API, with what, and when they last did.
// Shows a secret only once, right after it was made.

import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys, queryClient, useList } from '../../client/queries.ts';
import type { ApiKey, ApiKeyWithSecret } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ApiKeyDrawer } from './api-key-drawer.tsx';
import { ApiLinks } from './api-links.tsx';
import { CreateApiKey } from './create-api-key.tsx';
import { madeKey } from './made-key.tsx';
import { allScopes } from './scopes.ts';
import { type Made, SecretDialog } from './secret-dialog.tsx';

const scopesText = ({ scopes }: ApiKey): string => {
  if (scopes.length === allScopes.length) return 'Everything';
  return scopes.length <= 2 ? scopes.join(', ') : `${scopes[0]} and ${scopes.length - 1} more`;
};

const columns: readonly Column<ApiKey>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Begins with', cell: ({ hint }) => <code>{hint}…</code>, width: 150, wideOnly: true },
  { header: 'May do', cell: (key) => <span title={key.scopes.join(', ')}>{scopesText(key)}</span>, width: '22%', wideOnly: true },
  {
    header: 'Last used',
    cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} as="relative" />),
    width: 110,
  },
  {
    header: 'Ends',
    cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Time at={expires_at} as="date" />),
    width: 120,
    wideOnly: true,
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} />, width: 100 },
];

export function ApiKeysPage(): ReactNode {
  const { words, set, href } = useWords();
  const mayWrite = useCan('api_keys:write');
  const [made, setMade] = useState<Made | null>(null);
  const query = useList({ resource: 'api_keys', load: (cursor) => client.apiKeys.list(cursor) });
  const create = (): void => {
    if (mayWrite) set({ new: '1' }, 'push');
  };
  useShortcut('n', 'New API key', create);
  function created(key: ApiKeyWithSecret): void {
    set({ new: undefined });
    setMade(madeKey(key, 'API key created'));
    void queryClient.invalidateQueries({ queryKey: keys.all('api_keys') });
  }
  return (
    <>
      <PageHeader title="API keys" description={<ApiLinks />}>
        {mayWrite && (
          <Button onClick={create} leftSection={<Icon name="plus" size={16} />}>
            New key
          </Button>
        )}
      </PageHeader>
      <DataTable
        label="API keys"
        query={query}
        columns={columns}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={
          <EmptyState title="No API keys yet" curl={{ method: 'POST', path: '/v1/api_keys', body: { name: 'Bookkeeping' } }}>
            A key lets a program call the API. Create one here, or with a key that may make keys:
          </EmptyState>
        }
      />
      {mayWrite && <CreateApiKey opened={words.new === '1'} onClose={() => set({ new: undefined })} onCreated={created} />}
      <ApiKeyDrawer id={words.open} onClose={() => set({ open: undefined })} />
      <SecretDialog made={made} onDone={() => setMade(null)} />
    </>
  );
}
