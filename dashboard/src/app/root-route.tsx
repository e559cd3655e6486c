// The root of all pages: what is shown where there is no such page, and where one fails.
// Has no look of its own.

import { createRootRoute, Outlet } from '@tanstack/react-router';
import { ErrorPage } from '../ui/error-notice.tsx';
import { NotFoundPage } from './not-found-page.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: ({ error }) => <ErrorPage error={error} />,
  notFoundComponent: NotFoundPage,
});
