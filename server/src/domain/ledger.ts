// The double-entry ledger: which entries each movement of money posts. Signs: a debit is positive, a credit negative.
// Pure. Entries are immutable once written, so names and signs here are fixed; docs/invariants.md explains them.

import type { Uuid } from './ids.ts';

/**
 * One set of accounts per project and currency:
 * `receivable` what the client has been invoiced (debit), `payable` what is approved and not yet released (credit),
 * `paid_out` what has been released to the payee (credit). Their sum is zero at every moment.
 */
export const ledgerAccounts = ['receivable', 'payable', 'paid_out'] as const;
export type LedgerAccount = (typeof ledgerAccounts)[number];

export interface LedgerEntry {
  readonly workspaceId: Uuid;
  /** The posting this entry belongs to. The entries of one posting sum to zero. */
  readonly postingId: Uuid;
  readonly line: number;
  readonly account: LedgerAccount;
  readonly projectId: Uuid;
  readonly paymentId: Uuid;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly createdAt: Date;
}

export interface MoneyMovement {
  readonly workspaceId: Uuid;
  readonly projectId: Uuid;
  readonly paymentId: Uuid;
  readonly currency: string;
  readonly amountMinor: bigint;
}

const movements = {
  /** Approved, waiting for its release: the client owes, and so do we. */
  accrued: { debit: 'receivable', credit: 'payable' },
  /** Released after having waited. */
  released: { debit: 'payable', credit: 'paid_out' },
  /** Approved and released in one commit: the two above, netted. */
  released_on_approval: { debit: 'receivable', credit: 'paid_out' },
} as const satisfies Record<string, { debit: LedgerAccount; credit: LedgerAccount }>;

/** The two entries of a movement, which sum to zero. */
export function postEntries(movement: keyof typeof movements, money: MoneyMovement, postingId: Uuid, now: Date): LedgerEntry[] {
  const { debit, credit } = movements[movement];
  const { workspaceId, projectId, paymentId, currency, amountMinor } = money;
  const entry = { workspaceId, postingId, projectId, paymentId, currency, createdAt: now };
  return [
    { ...entry, line: 1, account: debit, amountMinor },
    { ...entry, line: 2, account: credit, amountMinor: -amountMinor },
  ];
}
