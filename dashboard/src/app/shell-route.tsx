// The route that every page with menu and head stands under: it lets in who is signed in and sends others to sign in.
// The pages themselves are added in router.tsx.

import { createRoute, redirect } from '@tanstack/react-router';
import { queryClient } from '../client/queries.ts';
import { accountQuery } from '../session/account.ts';
import { ErrorPage } from '../ui/error-notice.tsx';
import { PageSkeleton } from '../ui/skeletons.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { rootRoute } from './root-route.tsx';
import { Shell } from './shell.tsx';

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'inside',
  beforeLoad: async ({ location }) => {
    const account = await queryClient.ensureQueryData(accountQuery);
    if (account !== null) return;
    const next = location.href === '/' ? {} : { next: location.href };
    throw redirect({ to: '/sign-in', search: next, replace: true });
  },
  component: Shell,
  pendingComponent: PageSkeleton,
  errorComponent: ({ error }) => <ErrorPage error={error} />,
  notFoundComponent: NotFoundPage,
});
