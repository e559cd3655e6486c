// One project: its milestones, payments, invoices and events.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function ProjectPage(): ReactNode {
  return <PageHeader title="Project" />;
}
