// The route of the overview: what needs somebody in a workspace, in one answer.
// It asks for the scopes of all that it shows, and decides nothing else.

import type { Scope } from '../../domain/scopes.ts';
import { overviewExample, overviewResource, presentOverview } from '../../schemas/overview.ts';
import { ABSENT } from '../mount.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

/** What it shows is read elsewhere with these. */
const SHOWN: readonly Scope[] = ['milestones:read', 'payments:read', 'webhooks:read'];

export function overviewRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/overview',
      operationId: 'getOverview',
      tag: 'Workspace',
      summary: 'Read what needs attention',
      description:
        'What awaits approval, what is overdue, which webhook endpoints fail, and what was released month by month. It also asks for the ' +
        `scopes ${SHOWN.map((scope) => `\`${scope}\``).join(', ')}, since it shows what they let one read.`,
      scope: 'workspace:read',
      success: { status: 200, description: 'The overview.', schema: overviewResource, example: overviewExample },
      errors: [],
      async handle({ caller }) {
        const lacking = SHOWN.find((scope) => !caller.scopes.includes(scope));
        if (lacking !== undefined) {
          return { code: 'insufficient_scope', detail: `The scope ${lacking} is lacking.`, scope: lacking };
        }
        const overview = await reads.getOverview(caller.workspaceId);
        return overview === null ? ABSENT : { body: presentOverview(overview) };
      },
    }),
  ];
}
