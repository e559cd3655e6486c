// A report of `verify` as a person reads it, 80 columns wide. Words only; checks nothing.

import { inColumns } from './columns.ts';
import type { WorkspaceReport } from './verify.ts';

export function describeReport(report: WorkspaceReport): string {
  const count = (n: number): string => n.toLocaleString('en');
  const many = (n: number, noun: string): string => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
  const lines = [`${report.workspace}  ${report.name}`];
  if (report.faultsInAll === 0) {
    lines.push(
      `  ok  hash chain    ${many(report.events, 'event')}, each hash recomputed, no gap`,
      `  ok  ledger        ${many(report.payments, 'payment')}, every posting sums to zero`,
      `  ok  invoices      ${many(report.invoices, 'number')} without a gap, each equal to its payment`,
      `  ok  milestones    ${count(report.milestones)} looked at, each approved one has its payment`,
    );
  } else {
    for (const fault of report.faults) lines.push(`  BROKEN  ${inColumns(fault, '          ')}`);
    const more = report.faultsInAll - report.faults.length;
    if (more > 0) lines.push(`  … and ${count(more)} more`);
  }
  lines.push(`  head ${report.head}`);
  return lines.join('\n');
}
