// What can be done to an endpoint: pause and resume, edit, a new secret, delete.
// Every change names the version it was made from, so that nobody overwrites a colleague unawares.

import { Button, Menu } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { WebhookEndpoint } from '../../client/sdk.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { type EndpointDraft, updateOf } from './endpoint-draft.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { madeEndpointSecret } from './made-endpoint-secret.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { type Made, SecretDialog } from './secret-dialog.tsx';

type Asked = 'edit' | 'rotate' | 'pause' | 'resume' | 'delete' | null;

export function EndpointActions({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const [asked, setAsked] = useState<Asked>(null);
  const [made, setMade] = useState<Made | null>(null);
  const close = (): void => setAsked(null);
  const { id, status, version } = endpoint;
  const isOn = status === 'enabled';

  function keep(next: WebhookEndpoint): void {
    queryClient.setQueryData(keys.one('webhook_endpoints', id), next);
    void queryClient.invalidateQueries({ queryKey: keys.all('webhook_endpoints') });
  }
  async function edit(draft: EndpointDraft): Promise<void> {
    const changes = updateOf(draft, endpoint);
    if (Object.keys(changes).length > 0) keep(await client.webhookEndpoints.update(id, changes, { ifMatch: version }));
    close();
    notify('Endpoint saved');
  }
  async function rotate(overlap_seconds: number): Promise<void> {
    const { secret, ...next } = await client.webhookEndpoints.rotateSecret(id, { overlap_seconds });
    keep(next);
    const more = overlap_seconds === 0 ? 'The old secret no longer signs.' : 'Until the old one ends, deliveries are signed with both.';
    setMade(madeEndpointSecret({ ...next, secret }, 'Signing secret rotated', more));
  }
  async function turn(to: 'enabled' | 'disabled'): Promise<void> {
    keep(await client.webhookEndpoints.update(id, { status: to }, { ifMatch: version }));
    notify(to === 'enabled' ? 'Endpoint resumed' : 'Endpoint paused');
  }
  return (
    <>
      <Button
        variant={isOn ? 'default' : 'filled'}
        leftSection={<Icon name={isOn ? 'pause' : 'play'} size={16} />}
        onClick={() => setAsked(isOn ? 'pause' : 'resume')}
      >
        {isOn ? 'Pause' : 'Resume'}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<Icon name="down" size={14} />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Icon name="edit" size={16} />} onClick={() => setAsked('edit')}>
            Edit
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="refresh" size={16} />} onClick={() => setAsked('rotate')}>
            Rotate secret
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="trash" size={16} />} onClick={() => setAsked('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EndpointForm opened={asked === 'edit'} onClose={close} endpoint={endpoint} onSubmit={edit} />
      <RotateDialog
        opened={asked === 'rotate'}
        onClose={close}
        title="Rotate the signing secret?"
        effect="A new secret is made and shown once. Until the old one ends, deliveries carry a signature by each, so that the receiver can change over."
        atOnce="A receiver that knows only the old secret refuses everything from now on."
        onRotate={rotate}
      />
      <Turning asked={asked} onClose={close} endpoint={endpoint} onTurn={turn} />
      <Deletion opened={asked === 'delete'} onClose={close} endpoint={endpoint} />
      <SecretDialog made={made} onDone={() => setMade(null)} />
    </>
  );
}

interface TurningProps {
  readonly asked: Asked;
  readonly onClose: () => void;
  readonly endpoint: WebhookEndpoint;
  readonly onTurn: (to: 'enabled' | 'disabled') => Promise<void>;
}

function Turning({ asked, onClose, endpoint, onTurn }: TurningProps): ReactNode {
  return (
    <>
      <ConfirmDialog
        opened={asked === 'pause'}
        onClose={onClose}
        title="Pause this endpoint?"
        effect="Nothing is sent to it any more, and deliveries that wait are not taken up. Events of the meantime make no deliveries: after resuming, Recover sends what was missed."
        confirm="Pause"
        onConfirm={() => onTurn('disabled')}
      />
      <ConfirmDialog
        opened={asked === 'resume'}
        onClose={onClose}
        title="Resume this endpoint?"
        effect={
          <>
            Events from now on are sent to <code style={{ overflowWrap: 'anywhere' }}>{endpoint.url}</code> again. What happened in the
            meantime is sent by Recover.
          </>
        }
        confirm="Resume"
        onConfirm={() => onTurn('enabled')}
      />
    </>
  );
}

interface DeletionProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly endpoint: WebhookEndpoint;
}

function Deletion({ opened, onClose, endpoint: { id, url } }: DeletionProps): ReactNode {
  const router = useRouter();
  async function remove(): Promise<void> {
    await client.webhookEndpoints.delete(id);
    queryClient.removeQueries({ queryKey: keys.one('webhook_endpoints', id) });
    void queryClient.invalidateQueries({ queryKey: keys.list('webhook_endpoints') });
    notify('Endpoint deleted');
    router.history.push('/developers/webhooks');
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Delete this endpoint?"
      effect={
        <>
          <code style={{ overflowWrap: 'anywhere' }}>{url}</code> is sent nothing any more, what waits included, and its secret is
          destroyed. This cannot be taken back. To stop for a while, pause it.
        </>
      }
      confirm="Delete endpoint"
      danger
      onConfirm={remove}
    />
  );
}
