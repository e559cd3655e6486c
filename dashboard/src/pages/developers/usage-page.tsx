// What was used of the rate limit.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function UsagePage(): ReactNode {
  return <PageHeader title="Usage" />;
}
