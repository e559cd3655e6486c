// The routes that create, edit and move milestones. They turn a request into a command and decide nothing.

import { createMilestone } from '../../commands/create-milestone.ts';
import { scopesForMilestoneUpdate, updateMilestone } from '../../commands/update-milestone.ts';
import { encodeId } from '../../domain/ids.ts';
import { type Milestone, type MilestoneDraft, type MilestoneUpdate, moveScopes } from '../../domain/milestone.ts';
import {
  type MilestoneCreate,
  type MilestoneUpdate as MilestoneUpdateBody,
  milestoneCreate,
  milestoneCreateExample,
  milestoneExample,
  milestoneResource,
  milestoneUpdate,
  milestoneUpdateExample,
  presentMilestone,
} from '../../schemas/milestones.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { envelope, etag, submit, type Writes } from '../writes.ts';

const serialize = serializerOf(milestoneResource);

const updated = (milestone: Milestone) => ({ status: 200, headers: etag(milestone.version), body: serialize(presentMilestone(milestone)) });
const created = (milestone: Milestone) => ({
  status: 201,
  headers: { location: `/v1/milestones/${encodeId('milestone', milestone.id)}`, ...etag(milestone.version) },
  body: serialize(presentMilestone(milestone)),
});

export function draftOf(body: MilestoneCreate): MilestoneDraft {
  const { title, amount, currency = null, due_date = null, description = null, payee_id = null, metadata = {} } = body;
  return { title, amountMinor: amount, currency, dueDate: due_date, description, payeeId: payee_id, metadata };
}

function updateOf(body: MilestoneUpdateBody): MilestoneUpdate {
  const { due_date, payee_id, amount, submission, ...fields } = body;
  return {
    ...fields,
    dueDate: due_date,
    payeeId: payee_id,
    amountMinor: amount,
    submission: submission && { note: submission.note ?? null, links: submission.links ?? [] },
  };
}

const scopeList = Object.entries(moveScopes)
  .filter(([status]) => status !== 'pending')
  .map(([status, scope]) => `\`${status}\`: \`${scope}\``)
  .join(', ');

export function milestoneWriteRoutes({ lane }: Writes): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/projects/:id/milestones',
      operationId: 'createMilestone',
      tag: 'Milestones',
      summary: 'Add a milestone to a project',
      description: 'Its currency and payee default to those of the project. Emits `milestone.created`.',
      scope: 'milestones:write',
      ids: { id: 'project' },
      body: milestoneCreate,
      bodyExample: milestoneCreateExample,
      success: {
        status: 201,
        description: 'The milestone, created.',
        schema: milestoneResource,
        example: { ...milestoneExample, status: 'pending' },
      },
      errors: ['idempotency_key_reused', 'project_archived'],
      idempotent: true,
      versioned: true,
      handle: (request) => submit(lane, createMilestone(envelope(request, created), request.ids.id as string, draftOf(request.body))),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/milestones/:id',
      operationId: 'updateMilestone',
      tag: 'Milestones',
      summary: 'Edit or move a milestone',
      description:
        'Changes the status, fields, or both as one decision, fields first. Setting the status it already has changes nothing. ' +
        'Approval makes the payment, the invoice and the ledger entries in the same commit, and releases the payment where the project says `on_approval`. ' +
        `Scopes by status: ${scopeList}; editing fields needs \`milestones:write\`.`,
      scope: null,
      ids: { id: 'milestone' },
      body: milestoneUpdate,
      bodyExample: milestoneUpdateExample,
      success: { status: 200, description: 'The milestone as it is now.', schema: milestoneResource, example: milestoneExample },
      errors: [
        'insufficient_scope',
        'idempotency_key_reused',
        'precondition_failed',
        'invalid_transition',
        'not_editable',
        'project_archived',
      ],
      idempotent: true,
      versioned: true,
      async handle(request) {
        const update = updateOf(request.body);
        const missing = scopesForMilestoneUpdate(update).find((scope) => !request.caller.scopes.includes(scope));
        if (missing !== undefined) {
          return { code: 'insufficient_scope', detail: `This change needs a key with the scope ${missing}.`, scope: missing };
        }
        return submit(lane, updateMilestone(envelope(request, updated), request.ids.id as string, update, request.ifMatch));
      },
    }),
  ];
}
