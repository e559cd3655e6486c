// Every SQL statement on the ledger. The table takes inserts only; the database refuses anything else.

import type { LedgerEntry } from '../domain/ledger.ts';
import { columnTypes, defineTable } from './tables.ts';

export const ledgerTable = defineTable<LedgerEntry>('ledger_entries', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  postingId: { column: 'posting_id', type: 'uuid' },
  line: { column: 'line', type: 'smallint' },
  account: { column: 'account', type: 'text' },
  projectId: columnTypes.fixedUuid('project_id'),
  paymentId: columnTypes.fixedUuid('payment_id'),
  currency: { column: 'currency', type: 'text' },
  amountMinor: { column: 'amount_minor', type: 'bigint' },
  createdAt: columnTypes.createdAt,
});
