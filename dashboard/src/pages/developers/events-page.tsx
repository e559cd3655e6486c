// The event log with its payloads.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function EventsPage(): ReactNode {
  return <PageHeader title="Events" />;
}
