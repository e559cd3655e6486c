// The routes that read projects, and what belongs to one.
// They turn a query into a read and a record into an answer, and decide nothing.

import { presentProject, projectExample, projectList, projectListQuery, projectResource } from '../../schemas/projects.ts';
import { listAnswer, listExample, pageOf, type Reads, readsOne } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { etag } from '../writes.ts';

export function projectReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/projects',
      operationId: 'listProjects',
      tag: 'Projects',
      summary: 'List projects',
      description: 'The projects of the workspace, newest first.',
      scope: 'projects:read',
      query: projectListQuery,
      success: { status: 200, description: 'A page of projects.', schema: projectList, example: listExample(projectExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const filters = { status: query.status, clientId: query.client_id, search: query.q, metadata: query.metadata };
        return listAnswer('project', await reads.listProjects(caller.workspaceId, filters, page), page, presentProject);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/projects/:id',
      operationId: 'getProject',
      tag: 'Projects',
      summary: 'Read a project',
      scope: 'projects:read',
      ids: { id: 'project' },
      success: { status: 200, description: 'The project.', schema: projectResource, example: projectExample },
      errors: [],
      versioned: true,
      handle: readsOne(reads.getProject, (project) => ({ headers: etag(project.version), body: presentProject(project) })),
    }),
  ];
}
