// The router: every page under its address.
// Registers the routes' types, so that a link to a page that does not exist does not compile.

import { createRouter } from '@tanstack/react-router';
import { ErrorPage } from '../ui/error-notice.tsx';
import { PageSkeleton } from '../ui/skeletons.tsx';
import { insideRoutes, outsideRoutes } from './areas.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { rootRoute } from './root-route.tsx';
import { parseSearch, stringifySearch } from './search.ts';
import { shellRoute } from './shell-route.tsx';

const routeTree = rootRoute.addChildren([...outsideRoutes, shellRoute.addChildren([...insideRoutes])]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  // A page's script is fetched when the pointer nears its link.
  defaultPreload: 'intent',
  defaultPendingComponent: PageSkeleton,
  // Shorter waits show nothing new: a skeleton that flashes is worse than none.
  defaultPendingMs: 150,
  defaultPendingMinMs: 200,
  defaultErrorComponent: ({ error }) => <ErrorPage error={error} />,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
