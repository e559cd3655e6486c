// Every payment, with filters, totals and export.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function PaymentsPage(): ReactNode {
  return <PageHeader title="Payments" />;
}
