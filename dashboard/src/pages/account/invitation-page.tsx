// Who invites me to what, and accepting it.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function InvitationPage(): ReactNode {
  return <PageHeader title="Invitation" />;
}
