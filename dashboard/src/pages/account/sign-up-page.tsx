// The first person makes their account with the setup token.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function SignUpPage(): ReactNode {
  return <PageHeader title="Set up" />;
}
