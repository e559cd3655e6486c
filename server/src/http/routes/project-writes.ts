// The routes that create and change projects. They turn a request into a command and decide nothing.

import { createProject } from '../../commands/create-project.ts';
import { updateProject } from '../../commands/update-project.ts';
import { encodeId } from '../../domain/ids.ts';
import type { Project } from '../../domain/project.ts';
import {
  presentProject,
  projectCreate,
  projectCreateExample,
  projectExample,
  projectResource,
  projectUpdate,
  projectUpdateExample,
} from '../../schemas/projects.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { envelope, etag, submit, type Writes } from '../writes.ts';
import { draftOf } from './milestone-writes.ts';

const serialize = serializerOf(projectResource);

const updated = (project: Project) => ({ status: 200, headers: etag(project.version), body: serialize(presentProject(project)) });
const created = (project: Project) => ({
  status: 201,
  headers: { location: `/v1/projects/${encodeId('project', project.id)}`, ...etag(project.version) },
  body: serialize(presentProject(project)),
});

export function projectWriteRoutes({ lane }: Writes): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/projects',
      operationId: 'createProject',
      tag: 'Projects',
      summary: 'Create a project',
      description: 'Creates a project and, in the same commit, the milestones sent with it. Emits `project.created`.',
      scope: 'projects:write',
      body: projectCreate,
      bodyExample: projectCreateExample,
      success: { status: 201, description: 'The project, created.', schema: projectResource, example: projectExample },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      versioned: true,
      handle(request) {
        const { name, client_id, payee_id = null, currency = null, release = 'on_approval', metadata = {}, milestones = [] } = request.body;
        const draft = { name, clientId: client_id, payeeId: payee_id, currency, release, metadata, milestones: milestones.map(draftOf) };
        return submit(lane, createProject(envelope(request, created), draft));
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/projects/:id',
      operationId: 'updateProject',
      tag: 'Projects',
      summary: 'Edit, archive or take back a project',
      description:
        'Changes the fields it names and leaves the others. Milestones, payments and invoices that exist keep what they took over. Archiving emits `project.archived`.',
      scope: 'projects:write',
      ids: { id: 'project' },
      body: projectUpdate,
      bodyExample: projectUpdateExample,
      success: { status: 200, description: 'The project as it is now.', schema: projectResource, example: projectExample },
      errors: ['idempotency_key_reused', 'precondition_failed', 'invalid_transition'],
      idempotent: true,
      versioned: true,
      handle(request) {
        const { client_id, payee_id, ...fields } = request.body;
        const update = { ...fields, clientId: client_id, payeeId: payee_id };
        return submit(lane, updateProject(envelope(request, updated), request.ids.id as string, update, request.ifMatch));
      },
    }),
  ];
}
