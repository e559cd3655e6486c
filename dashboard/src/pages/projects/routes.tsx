// Projects and their milestones.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area, FoundRecord } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';
import { client } from '../../client/client.ts';

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
    validateSearch: searchOf('tab', 'view', 'open', 'new'),
    component: lazyRouteComponent(() => import('./project-page.tsx'), 'ProjectPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/milestones/$milestoneId',
    component: lazyRouteComponent(() => import('./milestone-page.tsx'), 'MilestonePage'),
  }),
] as const;

const MAX_FOUND = 6;

async function findProjects(q: string, signal: AbortSignal): Promise<readonly FoundRecord[]> {
  const { data } = await client.projects.list({ q, limit: MAX_FOUND }, { signal });
  return data.map(({ id, name, client_id }) => ({ id, label: name, detail: client_id, href: `/projects/${id}` }));
}

export const projectsArea: Area = {
  group: null,
  nav: [{ label: 'Projects', to: '/projects', icon: 'projects', key: 'p', scope: 'projects:read' }],
  commands: [{ label: 'New project', icon: 'plus', words: 'create add', scope: 'projects:write', run: ({ go }) => go('/projects?new=1') }],
  records: { prj: (id) => `/projects/${id}`, mil: (id) => `/milestones/${id}` },
  find: findProjects,
};
