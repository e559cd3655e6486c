// The logo: shown, chosen from a file, taken away. A picture that is too big for invoices is drawn smaller here, before it is sent.
// Sends nothing; the form does.

import { Button, FileButton, Group, Input, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { SettingsDraft } from './settings-draft.ts';
import { MAX_LOGO_BYTES } from './settings-draft.ts';

type Logo = SettingsDraft['logo'];

/** Far sharper than it is printed, and within what the server takes. */
const MAX_SIDE_PX = 800;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Drawn anew, so that every kind of picture the browser knows becomes one that can be printed; null where it knows it not. */
async function printable(file: File): Promise<Logo> {
  const picture = await createImageBitmap(file).catch(() => null);
  if (picture === null) return null;
  for (let side = MAX_SIDE_PX; side >= 100; side = Math.floor(side * 0.7)) {
    const scale = Math.min(1, side / Math.max(picture.width, picture.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (blob !== null && blob.size <= MAX_LOGO_BYTES)
      return { content_type: 'image/png', data: base64Of(new Uint8Array(await blob.arrayBuffer())) };
  }
  return null;
}

export interface LogoFieldProps {
  readonly logo: Logo;
  readonly onChange: (logo: Logo) => void;
  readonly disabled: boolean;
}

export function LogoField({ logo, onChange, disabled }: LogoFieldProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null);
  async function take(file: File | null): Promise<void> {
    if (file === null) return;
    const taken = await printable(file);
    setProblem(taken === null ? 'That is no picture that this browser can read, or it does not get small enough.' : null);
    if (taken !== null) onChange(taken);
  }
  return (
    <Input.Wrapper label="Logo" labelElement="div" description="PNG or JPEG, at the top of invoices" error={problem}>
      <Group gap="sm" mt={6}>
        {logo !== null && (
          <img
            src={`data:${logo.content_type};base64,${logo.data}`}
            alt="The logo"
            style={{ maxWidth: 150, maxHeight: 56, background: '#ffffff', borderRadius: 4, border: '1px solid var(--line)', padding: 4 }}
          />
        )}
        {logo === null && disabled && <Text c="dimmed">None</Text>}
        {!disabled && (
          <FileButton onChange={(file) => void take(file)} accept="image/png,image/jpeg,image/webp">
            {(props) => (
              <Button variant="default" {...props}>
                {logo === null ? 'Choose a picture' : 'Replace'}
              </Button>
            )}
          </FileButton>
        )}
        {!disabled && logo !== null && (
          <Button variant="subtle" color="gray" onClick={() => onChange(null)}>
            Remove
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
