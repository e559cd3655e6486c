// The routes that read milestones.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import {
  milestoneExample,
  milestoneList,
  milestoneListQuery,
  milestoneResource,
  presentMilestone,
  workspaceMilestoneListQuery,
} from '../../schemas/milestones.ts';
import { ABSENT } from '../mount.ts';
import { listAnswer, listExample, pageOf, type Reads, readsOne } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { etag } from '../writes.ts';

export function milestoneReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/projects/:id/milestones',
      operationId: 'listProjectMilestones',
      tag: 'Milestones',
      summary: 'List the milestones of a project',
      description: 'The milestones of the project, newest first.',
      scope: 'milestones:read',
      ids: { id: 'project' },
      query: milestoneListQuery,
      success: { status: 200, description: 'A page of milestones.', schema: milestoneList, example: listExample(milestoneExample) },
      errors: [],
      async handle({ caller, ids, query }) {
        const page = pageOf(query);
        const filters = { projectId: ids.id as Uuid, status: query.status };
        const found = await reads.listMilestones(caller.workspaceId, filters, page);
        return found === null ? ABSENT : listAnswer('milestone', found, page, presentMilestone);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/milestones',
      operationId: 'listMilestones',
      tag: 'Milestones',
      summary: 'List milestones',
      description:
        'The milestones of the workspace, newest first. `status=submitted` lists those that await approval, `due_before` those that are late.',
      scope: 'milestones:read',
      query: workspaceMilestoneListQuery,
      success: { status: 200, description: 'A page of milestones.', schema: milestoneList, example: listExample(milestoneExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const filters = { status: query.status, dueBefore: query.due_before, projectId: query.project_id };
        return listAnswer('milestone', await reads.listAllMilestones(caller.workspaceId, filters, page), page, presentMilestone);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/milestones/:id',
      operationId: 'getMilestone',
      tag: 'Milestones',
      summary: 'Read a milestone',
      scope: 'milestones:read',
      ids: { id: 'milestone' },
      success: { status: 200, description: 'The milestone.', schema: milestoneResource, example: milestoneExample },
      errors: [],
      versioned: true,
      handle: readsOne(reads.getMilestone, (milestone) => ({ headers: etag(milestone.version), body: presentMilestone(milestone) })),
    }),
  ];
}
