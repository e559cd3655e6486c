// One invoice, as it is printed.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function InvoicePage(): ReactNode {
  return <PageHeader title="Invoice" />;
}
