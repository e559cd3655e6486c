// Who changed what, when and from where.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function AuditLogPage(): ReactNode {
  return <PageHeader title="Audit log" />;
}
