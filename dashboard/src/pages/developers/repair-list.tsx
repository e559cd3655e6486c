// The repairs that were asked for, counts included, newest first.
// Begins none: that happens where deliveries are listed.

import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { useList } from '../../client/queries.ts';
import type { WebhookRepair } from '../../client/sdk.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { RepairBadge } from './delivery-status.tsx';
import { counted, filterText, verbOf } from './repair-draft.ts';
import { StopRepair } from './running-repairs.tsx';

const resultText = ({ dry_run, matched, changed, action }: WebhookRepair): string =>
  dry_run ? counted(matched, action) : `${changed} of ${counted(matched, action)}`;

const columns: readonly Column<WebhookRepair>[] = [
  {
    header: 'Repair',
    cell: (repair) => (
      <span title={`${verbOf(repair.action)}: ${filterText(repair)}`}>
        {verbOf(repair.action)} <span style={{ opacity: 0.8 }}>{filterText(repair)}</span>
      </span>
    ),
  },
  { header: 'Done', cell: resultText, width: 180, wideOnly: true },
  { header: 'Status', cell: (repair) => <RepairBadge repair={repair} />, width: 110 },
  { header: 'Asked for', cell: ({ created_at }) => <Time at={created_at} as="relative" />, width: 110, align: 'right' },
  { header: 'Stop', cell: (repair) => <StopRepair repair={repair} />, width: 80, align: 'right', wideOnly: true },
];

export function RepairList(): ReactNode {
  const query = useList({ resource: 'webhook_repairs', load: (cursor) => client.webhookRepairs.list(cursor) });
  return (
    <DataTable
      label="Repairs"
      query={query}
      columns={columns}
      idOf={({ id }) => id}
      empty={
        <EmptyState
          title="No repairs yet"
          curl={{ method: 'POST', path: '/v1/webhook_repairs', body: { action: 'replay', statuses: ['failed'], dry_run: true } }}
        >
          A repair treats many deliveries at once: it replays them, recovers what was missed, or cancels what waits. Begin one where
          deliveries are listed, or count first from your own system:
        </EmptyState>
      }
    />
  );
}
