// A button that copies a text and says that it did; an id that can be copied.
// Copies only; ui/copy.ts knows how.

import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { copyText } from './copy.ts';
import { Icon } from './icon.tsx';

const SHOWN_MS = 1_500;

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied: "Copy request id". */
  readonly label: string;
  /** With its words beside the icon. */
  readonly wide?: boolean;
}

export function CopyButton({ text, label, wide = false }: CopyButtonProps): ReactNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => void copyText(text).then(setCopied);
  const icon = <Icon name={isCopied ? 'check' : 'copy'} size={16} />;
  if (wide) {
    return (
      <Button variant="default" onClick={copy} leftSection={icon}>
        {isCopied ? 'Copied' : label}
      </Button>
    );
  }
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={isCopied ? 'Copied' : label} onClick={copy}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** An id in the letters of code, with its copy button. */
export function Id({ id }: { readonly id: string }): ReactNode {
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
      <code>{id}</code>
      <CopyButton text={id} label="Copy id" />
    </Group>
  );
}
