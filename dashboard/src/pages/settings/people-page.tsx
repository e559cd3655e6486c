// Members and invitations.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function PeoplePage(): ReactNode {
  return <PageHeader title="People" />;
}
