// One key beside the list: what it may do, how it is used, and how it is rotated and revoked.
// Never shows a secret but the one that a rotation has just made.

import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { ApiKey } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { madeKey } from './made-key.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { type Made, SecretDialog } from './secret-dialog.tsx';

export function ApiKeyDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }): ReactNode {
  const query = useQuery({
    queryKey: keys.one('api_keys', id ?? ''),
    queryFn: async () => await client.apiKeys.retrieve(id ?? ''),
    enabled: id !== undefined,
  });
  return (
    <DetailDrawer opened={id !== undefined} onClose={onClose} title={query.data?.name ?? 'API key'}>
      {query.data !== undefined && <KeyDetails apiKey={query.data} />}
      {query.data === undefined && query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {query.data === undefined && query.isPending && (
        <div role="status" aria-busy="true" aria-label="Loading">
          <Rows count={8} />
        </div>
      )}
    </DetailDrawer>
  );
}

function KeyDetails({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const { id, hint, scopes, status, expires_at, revoked_at, last_used_at, created_at } = apiKey;
  const mayReadLog = useCan('request_log:read');
  const mayWrite = useCan('api_keys:write');
  return (
    <Stack gap="md">
      {mayWrite && status === 'active' && <Actions apiKey={apiKey} />}
      <Details
        items={[
          { label: 'Status', value: <StatusBadge status={status} /> },
          { label: 'Begins with', value: <code>{hint}…</code> },
          { label: 'Last used', value: last_used_at === null ? 'Never' : <Time at={last_used_at} as="relative" /> },
          ...(revoked_at === null ? [] : [{ label: 'Revoked', value: <Time at={revoked_at} /> }]),
          { label: 'Ends', value: expires_at === null ? 'Never' : <Time at={expires_at} /> },
          { label: 'Created', value: <Time at={created_at} /> },
          { label: 'Id', value: <Id id={id} /> },
        ]}
      />
      <div>
        <Text size="sm" fw={500} mb={6}>
          May do
        </Text>
        <Group gap={6}>
          {scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none" fw={400} className="mono">
              {scope}
            </Badge>
          ))}
        </Group>
      </div>
      {mayReadLog && <TextLink href={`/developers/requests?api_key_id=${id}`}>Its requests of the last days</TextLink>}
    </Stack>
  );
}

function Actions({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const [asked, setAsked] = useState<'rotate' | 'revoke' | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const { id, name, last_used_at } = apiKey;
  const changed = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.all('api_keys') });
  async function rotate(overlap_seconds: number): Promise<void> {
    const key = await client.apiKeys.rotate(id, { overlap_seconds });
    setMade(
      madeKey(key, 'API key rotated', overlap_seconds === 0 ? 'The old secret no longer works.' : 'The old secret works on until it ends.'),
    );
    void changed();
  }
  async function revoke(): Promise<void> {
    await client.apiKeys.revoke(id);
    notify(`${name} revoked`);
    void changed();
  }
  return (
    <Group gap="xs">
      <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setAsked('rotate')}>
        Rotate
      </Button>
      <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => setAsked('revoke')}>
        Revoke
      </Button>
      <RotateDialog
        opened={asked === 'rotate'}
        onClose={() => setAsked(null)}
        title="Rotate this key?"
        effect={
          <>
            A new key with the same name, scopes and end takes the place of <b>{name}</b>. Its secret is shown once.
          </>
        }
        atOnce="Programs that still use the old secret are refused from now on."
        onRotate={rotate}
      />
      <ConfirmDialog
        opened={asked === 'revoke'}
        onClose={() => setAsked(null)}
        title="Revoke this key?"
        effect={
          <>
            Every program that uses <b>{name}</b> is refused within a second, and its event streams end. It was{' '}
            {last_used_at === null ? (
              'never used'
            ) : (
              <>
                last used <Time at={last_used_at} as="relative" />
              </>
            )}
            . This cannot be taken back.
          </>
        }
        confirm="Revoke key"
        danger
        onConfirm={revoke}
      />
      <SecretDialog made={made} onDone={() => setMade(null)} />
    </Group>
  );
}
