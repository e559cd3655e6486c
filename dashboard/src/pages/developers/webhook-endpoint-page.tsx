// One endpoint, its deliveries and their attempts.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function WebhookEndpointPage(): ReactNode {
  return <PageHeader title="Webhook endpoint" />;
}
