// Asks before something is done, and says what it will do: the money it moves, what cannot be taken back.
// Does nothing by itself; it stays open, with the error, when the doing fails.

import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ErrorNotice } from './error-notice.tsx';

export interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** A question: "Release this payment?" */
  readonly title: string;
  /** What follows: "€1,200.00 is released to payee_7 and invoice 2026-0007 is marked paid. This cannot be taken back." */
  readonly effect: ReactNode;
  /** What the button says; a verb and its object: "Release €1,200.00". */
  readonly confirm: string;
  readonly onConfirm: () => Promise<unknown>;
  /** For what cannot be undone: a red button. */
  readonly danger?: boolean;
  /** Must be typed first, for the gravest things: the name of the workspace. */
  readonly typeToConfirm?: string;
  /** Fields of the action itself, such as a reason. */
  readonly children?: ReactNode;
  /** False while the fields are not filled in. */
  readonly ready?: boolean;
}

export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { opened, onClose, title } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Question {...props} />
    </Modal>
  );
}

function Question({
  onClose,
  effect,
  confirm,
  onConfirm,
  danger = false,
  typeToConfirm,
  children,
  ready = true,
}: ConfirmDialogProps): ReactNode {
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function carryOut(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  const isReady = ready && (typeToConfirm === undefined || typed === typeToConfirm);
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        if (isReady && !isBusy) void carryOut();
      }}
    >
      <Stack gap="md">
        <Text size="sm" component="div">
          {effect}
        </Text>
        {children}
        {typeToConfirm !== undefined && (
          <TextInput
            label={`Type “${typeToConfirm}” to go on`}
            value={typed}
            autoComplete="off"
            onChange={(change) => setTyped(change.currentTarget.value)}
          />
        )}
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={danger ? 'red.9' : undefined}
            loading={isBusy}
            disabled={!isReady}
            data-autofocus={typeToConfirm === undefined ? true : undefined}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
