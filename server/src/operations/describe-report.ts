// A report of `verify` as a person reads it, 80 columns wide. Words only; checks nothing.

import type { WorkspaceReport } from './verify.ts';

export function describeReport(report: WorkspaceReport): string {
  const count = (n: number): string => n.toLocaleString('en');
  const lines = [`${report.workspace}  ${report.name}`];
  if (report.faultsInAll === 0) {
    lines.push(
      `  ok  hash chain    ${count(report.events)} events, each hash recomputed, no gap`,
      `  ok  ledger        ${count(report.payments)} payments, every posting sums to zero`,
      `  ok  invoices      ${count(report.invoices)} numbers without a gap, each equal to its payment`,
      `  ok  milestones    ${count(report.milestones)} looked at, each approved one has its payment`,
    );
  } else {
    for (const fault of report.faults) lines.push(`  BROKEN  ${fault}`);
    const more = report.faultsInAll - report.faults.length;
    if (more > 0) lines.push(`  … and ${count(more)} more`);
  }
  lines.push(`  head ${report.head}`);
  return lines.join('\n');
}
