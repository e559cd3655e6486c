// Settings: the workspace, its people, the own account and the audit log.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/workspace',
    validateSearch: searchOf('new'),
    component: lazyRouteComponent(() => import('./workspace-page.tsx'), 'WorkspacePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/people',
    validateSearch: searchOf('invite'),
    component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/account',
    component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/settings/audit-log',
    validateSearch: searchOf('actor_id', 'action', 'created_after', 'created_before', 'open'),
    component: lazyRouteComponent(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
] as const;

export const settingsArea: Area = {
  group: 'Settings',
  nav: [
    { label: 'Workspace', to: '/settings/workspace', icon: 'workspace', key: 's', scope: 'workspace:read' },
    { label: 'People', to: '/settings/people', icon: 'people', key: 'm', scope: 'members:read' },
    { label: 'Account', to: '/settings/account', icon: 'account', key: 'a' },
    { label: 'Audit log', to: '/settings/audit-log', icon: 'audit', key: 'l', scope: 'audit:read' },
  ],
  commands: [
    {
      label: 'Invite somebody',
      words: 'people member invitation',
      icon: 'people',
      scope: 'members:write',
      run: ({ go }) => go('/settings/people?invite=1'),
    },
    {
      label: 'New workspace',
      words: 'create',
      icon: 'workspace',
      isFor: ({ may_create_workspaces: may }) => may,
      run: ({ go }) => go('/settings/workspace?new=1'),
    },
    { label: 'Second factor', words: 'totp authenticator password sessions', icon: 'account', run: ({ go }) => go('/settings/account') },
  ],
};
