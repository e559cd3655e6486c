// Every SQL statement on the ledger. The table takes inserts only; the database refuses anything else.

import type { LedgerEntry } from '../domain/ledger.ts';
import { defineTable } from './tables.ts';

export const ledgerTable = defineTable<LedgerEntry>('ledger_entries', {
  workspaceId: { column: 'workspace_id', type: 'uuid' },
  postingId: { column: 'posting_id', type: 'uuid' },
  line: { column: 'line', type: 'smallint' },
  account: { column: 'account', type: 'text' },
  projectId: { column: 'project_id', type: 'uuid' },
  paymentId: { column: 'payment_id', type: 'uuid' },
  currency: { column: 'currency', type: 'text' },
  amountMinor: { column: 'amount_minor', type: 'bigint' },
  createdAt: { column: 'created_at', type: 'timestamptz(3)' },
});
