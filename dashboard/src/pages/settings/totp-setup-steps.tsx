// The steps of turning the second factor on. It counts only from the first right code on: who stops before that has changed nothing.
// Backup codes are shown once, at the end, when it is certain that they count.

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import type { TotpSetup } from '../../client/sdk.ts';
import { accountQuery } from '../../session/account.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { qrPath } from './qr-path.ts';
import { sessionsChanged } from './sessions.tsx';
import classes from './settings.module.css';
import { useSubmission } from './submission.ts';

export function TotpSetupSteps({ onDone }: { readonly onDone: () => void }): ReactNode {
  const [setup, setSetup] = useState<TotpSetup | null>(null);
  const [isVerified, setVerified] = useState(false);
  if (setup === null) return <AskPassword onSetup={setSetup} />;
  if (!isVerified) return <Scan setup={setup} onVerified={() => setVerified(true)} />;
  return <BackupCodes codes={setup.backup_codes} onDone={onDone} />;
}

function AskPassword({ onSetup }: { readonly onSetup: (setup: TotpSetup) => void }): ReactNode {
  const [password, setPassword] = useState('');
  const { isBusy, error, submit } = useSubmission(async () => onSetup(await client.account.totp({ password })));
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          value={password}
          onChange={(typed) => setPassword(typed.currentTarget.value)}
          required
          data-autofocus
        />
        {error !== null && <ErrorNotice error={error} />}
        <Button type="submit" loading={isBusy} disabled={password === ''}>
          Go on
        </Button>
      </Stack>
    </form>
  );
}

const inFours = (secret: string): string => secret.replace(/(.{4})(?=.)/g, '$1 ');

function QrCode({ text }: { readonly text: string }): ReactNode {
  const { size, path } = qrPath(text);
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      className={classes.qr}
      role="img"
      aria-label="QR code for the authenticator"
      shapeRendering="crispEdges"
    >
      <path d={path} fill="#000000" />
    </svg>
  );
}

function Scan({ setup, onVerified }: { readonly setup: TotpSetup; readonly onVerified: () => void }): ReactNode {
  const [code, setCode] = useState('');
  const { isBusy, error, submit } = useSubmission(async () => {
    await client.account.totpVerify({ code: code.replaceAll(' ', '') });
    onVerified();
    await Promise.all([queryClient.invalidateQueries({ queryKey: accountQuery.queryKey }), sessionsChanged()]);
  });
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">Scan this with your authenticator, or type the secret in there. Then enter the code that it shows.</Text>
        <Group justify="center">
          <QrCode text={setup.totp_uri} />
        </Group>
        <Group gap={6} justify="center" wrap="nowrap">
          <code data-testid="totp-secret" style={{ textAlign: 'center' }}>
            {inFours(setup.secret)}
          </code>
          <CopyButton text={setup.secret} label="Copy the secret" />
        </Group>
        <TextInput
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          onChange={(typed) => setCode(typed.currentTarget.value)}
          required
          data-autofocus
        />
        {error !== null && <ErrorNotice error={error} />}
        <Button type="submit" loading={isBusy} disabled={code === ''}>
          Turn on
        </Button>
      </Stack>
    </form>
  );
}

function BackupCodes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }): ReactNode {
  return (
    <Stack gap="md">
      <Text size="sm">
        The second factor is on. Each of these codes takes the place of one of the authenticator, once: for the day the phone is lost. They
        are shown this once.
      </Text>
      <ul className={classes.codes} aria-label="Backup codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Group justify="flex-end" gap="xs">
        <CopyButton text={codes.join('\n')} label="Copy the codes" wide />
        <Button
          onClick={() => {
            onDone();
            notify('The second factor is on');
          }}
        >
          I have kept them
        </Button>
      </Group>
    </Stack>
  );
}
