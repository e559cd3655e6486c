// Projects and their milestones.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const projectsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects',
    validateSearch: searchOf('q', 'status', 'client_id', 'new'),
    component: lazyRouteComponent(() => import('./projects-page.tsx'), 'ProjectsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/projects/$projectId',
    validateSearch: searchOf('tab', 'open', 'new'),
    component: lazyRouteComponent(() => import('./project-page.tsx'), 'ProjectPage'),
  }),
] as const;

export const projectsArea: Area = {
  group: null,
  nav: [{ label: 'Projects', to: '/projects', icon: 'projects', key: 'p', scope: 'projects:read' }],
  commands: [{ label: 'New project', icon: 'plus', words: 'create add', scope: 'projects:write', run: ({ go }) => go('/projects?new=1') }],
  records: { prj: (id) => `/projects/${id}` },
};
