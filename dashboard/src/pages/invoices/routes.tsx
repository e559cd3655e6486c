// Invoices and their printable pages.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const invoicesRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/invoices',
    validateSearch: searchOf('status', 'payment_status', 'project_id', 'client_id', 'created_after', 'created_before'),
    component: lazyRouteComponent(() => import('./invoices-page.tsx'), 'InvoicesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/invoices/$invoiceId',
    component: lazyRouteComponent(() => import('./invoice-page.tsx'), 'InvoicePage'),
  }),
] as const;

export const invoicesArea: Area = {
  group: null,
  nav: [{ label: 'Invoices', to: '/invoices', icon: 'invoices', key: 'i', scope: 'invoices:read' }],
  records: { inv: (id) => `/invoices/${id}` },
};
