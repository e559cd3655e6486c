// Asks before a pending payment is released, and says what it does: how much, to whom, now, and that it cannot be taken back.
// Releases once, however often it is pressed.

import { Checkbox, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import type { Payment } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { useAttemptKey } from '../projects/attempt-key.ts';
import { refreshProject } from '../projects/project-data.ts';

export function ReleaseDialog({ payment, onClose }: { readonly payment: Payment; readonly onClose: () => void }): ReactNode {
  const keyFor = useAttemptKey();
  const [isAware, setAware] = useState(payment.payee_id !== null);
  const amount = formatMoney(payment.amount, payment.currency);
  async function release(): Promise<void> {
    const released = await client.payments.release(payment.id, {}, { idempotencyKey: keyFor(payment.id) });
    queryClient.setQueryData(['payments', 'one', payment.id], released);
    void refreshProject();
    notify(`Released ${amount}`);
  }
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title="Release this payment?"
      confirm={`Release ${amount}`}
      onConfirm={release}
      ready={isAware}
      effect={
        <Stack gap={6}>
          <Text size="md" fw={600} style={{ overflowWrap: 'anywhere' }} data-testid="money-effect">
            {amount} is released to {payment.payee_id ?? 'nobody named as payee'} now.
          </Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            Its invoice to {payment.client_id} is marked paid, and webhooks tell of the release. It cannot be taken back.
          </Text>
        </Stack>
      }
    >
      {payment.payee_id === null && (
        <Checkbox
          label="I know that this payment names no payee."
          checked={isAware}
          onChange={(change) => setAware(change.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  );
}
