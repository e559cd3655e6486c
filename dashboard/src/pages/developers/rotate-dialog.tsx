// Asks how long an old secret goes on working while a new one takes its place: for keys and for webhook endpoints.
// Rotates nothing itself.

import { Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';

const overlaps = [
  { value: '0', label: 'Not at all: it ends at once' },
  { value: '3600', label: 'One hour' },
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'Seven days' },
] as const;

export interface RotateDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** "Rotate this key?" */
  readonly title: string;
  readonly effect: ReactNode;
  /** What happens at once where there is no overlap. */
  readonly atOnce: string;
  readonly onRotate: (overlapSeconds: number) => Promise<void>;
}

export function RotateDialog({ opened, onClose, title, effect, atOnce, onRotate }: RotateDialogProps): ReactNode {
  const [overlap, setOverlap] = useState('86400');
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={title}
      effect={
        <>
          {effect}
          {overlap === '0' && <> {atOnce}</>}
        </>
      }
      confirm="Rotate"
      danger={overlap === '0'}
      onConfirm={() => onRotate(Number(overlap))}
    >
      <Select
        label="The old secret goes on working for"
        data={[...overlaps]}
        value={overlap}
        onChange={(value) => value !== null && setOverlap(value)}
      />
    </ConfirmDialog>
  );
}
