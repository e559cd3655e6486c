// The front page.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    validateSearch: searchOf('all'),
    component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
  }),
] as const;

export const homeArea: Area = {
  group: null,
  nav: [{ label: 'Home', to: '/', icon: 'home', key: 'h' }],
};
