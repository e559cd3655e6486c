// The front page of a workspace in which nothing has happened yet: three steps to the first payment, here or with curl.
// Does none of them itself; each button leads to the page that does.

import { Button, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Scope } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import type { CurlRequest } from '../../ui/curl.ts';
import { Curl } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import classes from './home.module.css';

interface Step {
  readonly title: string;
  readonly text: string;
  readonly curl: CurlRequest;
  readonly action: { readonly label: string; readonly href: string; readonly scope: Scope };
}

const steps: readonly Step[] = [
  {
    title: 'Get an API key',
    text: 'Your own systems call with a key. It is shown once; keep it as TRANCHE_API_KEY, which these lines use. This one answers with your workspace:',
    curl: { path: '/v1/workspace' },
    action: { label: 'Create an API key', href: '/developers/api-keys?new=1', scope: 'api_keys:write' },
  },
  {
    title: 'Create a project with a milestone',
    text: 'Amounts are in the smallest unit: 150000 is 1,500.00. When the milestone is approved, its payment, invoice and events are there at once.',
    curl: {
      method: 'POST',
      path: '/v1/projects',
      body: { name: 'Website relaunch', client_id: 'acme', milestones: [{ title: 'Design', amount: 150_000 }] },
    },
    action: { label: 'Create a project', href: '/projects?new=1', scope: 'projects:write' },
  },
  {
    title: 'Hear of it',
    text: 'Have every event sent to you, signed. The dashboard shows each attempt and sends again what failed.',
    curl: { method: 'POST', path: '/v1/webhook_endpoints', body: { url: 'https://example.com/hooks/tranche' } },
    action: { label: 'Add a webhook endpoint', href: '/developers/webhooks?new=1', scope: 'webhooks:write' },
  },
];

export function FirstRun(): ReactNode {
  const { workspace, can } = useSession();
  const router = useRouter();
  return (
    <>
      <PageHeader title="Home" description={`Nothing has happened in ${workspace.name} yet. Three steps to the first payment:`} />
      <ol className={classes.steps}>
        {steps.map(({ title, text, curl, action }) => (
          <li key={title}>
            <Stack gap={6} align="flex-start" miw={0}>
              <Text component="h2" fw={600} m={0}>
                {title}
              </Text>
              <Text c="dimmed">{text}</Text>
              <Curl request={curl} />
              {can(action.scope) && (
                <Button variant="default" mt={4} onClick={() => router.history.push(action.href)}>
                  {action.label}
                </Button>
              )}
            </Stack>
          </li>
        ))}
      </ol>
    </>
  );
}
