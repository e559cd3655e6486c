// Payments.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const paymentsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/payments',
    validateSearch: searchOf('status', 'project_id', 'client_id', 'created_after', 'created_before', 'open'),
    component: lazyRouteComponent(() => import('./payments-page.tsx'), 'PaymentsPage'),
  }),
] as const;

export const paymentsArea: Area = {
  group: null,
  nav: [{ label: 'Payments', to: '/payments', icon: 'payments', key: 'y', scope: 'payments:read' }],
  records: { pay: (id) => `/payments?open=${id}` },
};
