// The own profile, password, second factor and sessions.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function AccountPage(): ReactNode {
  return <PageHeader title="Account" />;
}
