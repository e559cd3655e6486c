// What money adds up to, currency by currency.
// Pure types: sums are made by the database, and never over two currencies.

export interface Sum {
  readonly count: number;
  /** In minor units of the currency. */
  readonly amount: bigint;
}

export interface PaymentTotals {
  readonly currency: string;
  readonly pending: Sum;
  readonly released: Sum;
}

export interface InvoiceTotals {
  readonly currency: string;
  readonly unpaid: Sum;
  readonly paid: Sum;
  readonly void: Sum;
}

export interface ProjectTotals {
  readonly currency: string;
  /** Milestones that are not cancelled. */
  readonly planned: Sum;
  readonly submitted: Sum;
  readonly approved: Sum;
  readonly pending: Sum;
  readonly released: Sum;
}

/** What was released in one month of the workspace's time zone. */
export interface MonthTotals extends Sum {
  /** `2026-03`. */
  readonly month: string;
  readonly currency: string;
}
