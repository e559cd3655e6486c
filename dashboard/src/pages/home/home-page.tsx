// What needs me: the front page.
// Shows only its head so far.

import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page-header.tsx';

export function HomePage(): ReactNode {
  return <PageHeader title="Home" />;
}
