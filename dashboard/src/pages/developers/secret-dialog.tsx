// Shows a new secret, once: it exists in this dialog and on the clipboard, in no address, no storage and no kept answer.
// Makes no secret; closing it forgets.

import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CodeBlock } from './code-block.tsx';
import classes from './secret-dialog.module.css';

export interface Made {
  /** "API key created". */
  readonly title: string;
  readonly secret: string;
  /** What it is for and what happens now. */
  readonly about: ReactNode;
  /** A command that tries it. */
  readonly command?: string;
}

export function SecretDialog({ made, onDone }: { readonly made: Made | null; readonly onDone: () => void }): ReactNode {
  return (
    // Only the button closes it: a click beside it would lose the secret for good.
    <Modal
      opened={made !== null}
      onClose={onDone}
      title={made?.title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
    >
      {made !== null && (
        <Stack gap="md">
          <Text size="sm" component="div">
            {made.about}
          </Text>
          <div className={classes.frame}>
            <Text size="sm" fw={500} mb={4}>
              Copy it now. It is shown this once.
            </Text>
            <code className={classes.secret} data-secret>
              {made.secret}
            </code>
          </div>
          {made.command !== undefined && <CodeBlock label="Try it" text={made.command} />}
          <Group justify="flex-end" gap="xs">
            <CopyButton text={made.secret} label="Copy secret" wide />
            <Button onClick={onDone}>I have stored it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
