// The requests of the last days.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function RequestsPage(): ReactNode {
  return <PageHeader title="Requests" />;
}
