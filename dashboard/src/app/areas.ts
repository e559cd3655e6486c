// Every area of the dashboard, in the order of the menu.
// Lists, and nothing else: what an area is made of stands in its own folder.

import { accountRoutes } from '../pages/account/routes.tsx';
import { developersArea, developersRoutes } from '../pages/developers/routes.tsx';
import { homeArea, homeRoutes } from '../pages/home/routes.tsx';
import { invoicesArea, invoicesRoutes } from '../pages/invoices/routes.tsx';
import { paymentsArea, paymentsRoutes } from '../pages/payments/routes.tsx';
import { projectsArea, projectsRoutes } from '../pages/projects/routes.tsx';
import { settingsArea, settingsRoutes } from '../pages/settings/routes.tsx';
import type { Area } from './area.ts';

export const areas: readonly Area[] = [homeArea, projectsArea, paymentsArea, invoicesArea, developersArea, settingsArea];

/** Pages with menu and head, for people who are signed in. */
export const insideRoutes = [
  ...homeRoutes,
  ...projectsRoutes,
  ...paymentsRoutes,
  ...invoicesRoutes,
  ...developersRoutes,
  ...settingsRoutes,
] as const;

/** Pages by themselves: signing in and the like. */
export const outsideRoutes = [...accountRoutes] as const;
