// What developers work with: keys, webhooks, the event log, requests and usage.
// Registers them with their menu entries; the pages themselves are loaded when they are opened.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Area } from '../../app/area.ts';
import { searchOf } from '../../app/search.ts';
import { shellRoute } from '../../app/shell-route.tsx';

export const developersRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/api-keys',
    validateSearch: searchOf('new', 'open'),
    component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/webhooks',
    validateSearch: searchOf('new', 'tab', 'status', 'event_type', 'project_id', 'open'),
    component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/webhooks/$endpointId',
    validateSearch: searchOf('tab', 'status', 'event_type', 'project_id', 'open'),
    component: lazyRouteComponent(() => import('./webhook-endpoint-page.tsx'), 'WebhookEndpointPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/events',
    validateSearch: searchOf('event_type', 'project_id', 'before', 'open'),
    component: lazyRouteComponent(() => import('./events-page.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/requests',
    validateSearch: searchOf('api_key_id', 'status_class', 'method', 'path', 'open'),
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/developers/usage',
    component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
  }),
] as const;

export const developersArea: Area = {
  group: 'Developers',
  nav: [
    { label: 'API keys', to: '/developers/api-keys', icon: 'key', key: 'k', scope: 'api_keys:read' },
    { label: 'Webhooks', to: '/developers/webhooks', icon: 'webhooks', key: 'w', scope: 'webhooks:read' },
    { label: 'Events', to: '/developers/events', icon: 'events', key: 'e', scope: 'events:read' },
    { label: 'Requests', to: '/developers/requests', icon: 'requests', key: 'r', scope: 'request_log:read' },
    { label: 'Usage', to: '/developers/usage', icon: 'usage', key: 'u', scope: 'request_log:read' },
  ],
  commands: [
    {
      label: 'New API key',
      words: 'create token secret',
      icon: 'key',
      scope: 'api_keys:write',
      run: ({ go }) => go('/developers/api-keys?new=1'),
    },
    {
      label: 'New webhook endpoint',
      words: 'create receiver hook',
      icon: 'webhooks',
      scope: 'webhooks:write',
      run: ({ go }) => go('/developers/webhooks?new=1'),
    },
    {
      label: 'Failed deliveries',
      words: 'replay webhooks errors',
      icon: 'warning',
      scope: 'webhooks:read',
      run: ({ go }) => go('/developers/webhooks?tab=deliveries&status=failed'),
    },
  ],
  records: {
    key: (id) => `/developers/api-keys?open=${id}`,
    whe: (id) => `/developers/webhooks/${id}`,
    dlv: (id) => `/developers/webhooks?tab=deliveries&open=${id}`,
    whr: () => '/developers/webhooks?tab=repairs',
    evt: (id) => `/developers/events?open=${id}`,
  },
};
