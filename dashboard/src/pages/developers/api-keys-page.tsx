// The keys of the workspace.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function ApiKeysPage(): ReactNode {
  return <PageHeader title="API keys" />;
}
