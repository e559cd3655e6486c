// Milestones on the wire: the resource, what creates and changes one, the query of a project's list, and the presenter.
// Decides nothing; the domain does.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { type Milestone, type MilestoneStatus, milestoneMoves, milestoneStatuses } from '../domain/milestone.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { listOf, listQuery } from './lists.ts';
import {
  amount,
  amountField,
  calendarDay,
  countField,
  currency,
  currencyField,
  exampleId,
  idField,
  idFilter,
  metadata,
  metadataField,
  metadataPatch,
  name,
  paragraph,
  timestamp,
  wanted,
  webAddress,
} from './text.ts';

export const MAX_DESCRIPTION_LENGTH = 5000;
export const MAX_REASON_LENGTH = 2000;
export const MAX_NOTE_LENGTH = 5000;
export const MAX_LINKS = 20;

export const milestoneStatus = z
  .enum(milestoneStatuses, wanted(`one of ${milestoneStatuses.join(', ')}`))
  .meta({ id: 'MilestoneStatus', description: 'Where the work stands. `approved` and `cancelled` are final.' });

export const milestoneExample = {
  id: exampleId('milestone', 2),
  object: 'milestone' as const,
  project_id: exampleId('project'),
  title: 'Design',
  description: 'Three drafts, one of them worked out.',
  amount: 150000,
  currency: 'USD',
  payee_id: 'freelancer_7',
  due_date: '2026-03-31',
  status: 'submitted' as const,
  allowed_transitions: ['approved' as const, 'changes_requested' as const, 'in_progress' as const],
  reason: null,
  submission: { note: 'All three drafts are in the folder.', links: ['https://files.example.com/drafts'] },
  metadata: { order: 'A-1001' },
  submitted_at: '2026-03-20T16:05:12.345Z',
  approved_at: null,
  version: 2,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-20T16:05:12.345Z',
};

export const submissionResource = z
  .object({
    note: z.string().nullable(),
    links: z.array(z.string().meta({ format: 'uri' })),
  })
  .meta({ id: 'Submission', description: 'What was handed in.', example: milestoneExample.submission });

export const milestoneResource = z
  .object({
    id: idField('milestone'),
    object: z.literal('milestone'),
    project_id: idField('project'),
    title: z.string(),
    description: z.string().nullable(),
    amount: amountField('What it pays, in minor units of the currency.'),
    currency: currencyField(),
    payee_id: z.string().nullable().meta({ description: 'Your own id of who is paid.' }),
    due_date: z.string().nullable().meta({ description: 'A calendar day, YYYY-MM-DD.', example: '2026-03-31' }),
    status: milestoneStatus,
    allowed_transitions: z.array(milestoneStatus).meta({ description: 'The statuses it can be set to now.' }),
    reason: z.string().nullable().meta({ description: 'Why changes were requested or why it was cancelled, as last said.' }),
    submission: submissionResource.nullable().meta({ description: 'What was handed in last; null before.' }),
    metadata: metadataField,
    submitted_at: timestamp('When it was last submitted; null before.').nullable(),
    approved_at: timestamp('When it was approved; null before.').nullable(),
    version: countField('Grows with every change; the ETag.', 1),
    created_at: timestamp('When it was created.'),
    updated_at: timestamp('When it last changed.'),
  })
  .meta({
    id: 'Milestone',
    description: 'A piece of work with its price. Its approval makes the payment and the invoice.',
    example: milestoneExample,
  });

export function presentMilestone(milestone: Milestone): z.output<typeof milestoneResource> {
  const { submission } = milestone;
  return {
    id: encodeId('milestone', milestone.id),
    object: 'milestone',
    project_id: encodeId('project', milestone.projectId),
    title: milestone.title,
    description: milestone.description,
    amount: Number(milestone.amountMinor),
    currency: milestone.currency,
    payee_id: milestone.payeeId,
    due_date: milestone.dueDate,
    status: milestone.status,
    allowed_transitions: milestoneMoves[milestone.status] as unknown as MilestoneStatus[],
    reason: milestone.reason,
    submission: submission === null ? null : { note: submission.note, links: submission.links as string[] },
    metadata: milestone.metadata,
    submitted_at: milestone.submittedAt === null ? null : formatTimestamp(milestone.submittedAt),
    approved_at: milestone.approvedAt === null ? null : formatTimestamp(milestone.approvedAt),
    version: milestone.version,
    created_at: formatTimestamp(milestone.createdAt),
    updated_at: formatTimestamp(milestone.updatedAt),
  };
}

export const milestoneList = listOf('MilestoneList', milestoneResource, milestoneExample);

export const milestoneListQuery = listQuery('milestone', { status: milestoneStatus.optional() });

export const workspaceMilestoneListQuery = listQuery('milestone', {
  status: milestoneStatus.optional(),
  due_before: calendarDay.optional().meta({
    description:
      'Only milestones whose due date is before this day. Without `status`, only those that are neither submitted nor final: what is late.',
  }),
  project_id: idFilter('project').optional(),
});

const description = paragraph(MAX_DESCRIPTION_LENGTH);

export const milestoneCreateExample = {
  title: 'Design',
  amount: 150000,
  due_date: '2026-03-31',
  description: 'Three drafts, one of them worked out.',
};

export const milestoneCreate = z
  .strictObject({
    title: name,
    amount,
    currency: currency.optional().meta({ description: 'Default: the currency of the project.' }),
    due_date: calendarDay.optional(),
    description: description.optional(),
    payee_id: name.optional().meta({ description: 'Your own id of who is paid. Default: the payee of the project.' }),
    metadata: metadata.optional(),
  })
  .meta({ id: 'MilestoneCreate', description: 'A new milestone.', example: milestoneCreateExample });

export type MilestoneCreate = z.output<typeof milestoneCreate>;

export const submissionInput = z
  .strictObject({
    note: paragraph(MAX_NOTE_LENGTH).optional(),
    links: z
      .array(webAddress, wanted('a list of URLs'))
      .max(MAX_LINKS, { error: `A submission takes up to ${MAX_LINKS} links.` })
      .optional(),
  })
  .meta({ id: 'SubmissionInput', description: 'What is handed in.', example: milestoneExample.submission });

export const milestoneUpdateExample = {
  status: 'submitted',
  submission: { note: 'All three drafts are in the folder.', links: ['https://files.example.com/drafts'] },
};

export const milestoneUpdate = z
  .strictObject({
    status: milestoneStatus.optional().meta({ description: 'The status it should have. Setting the one it has changes nothing.' }),
    reason: paragraph(MAX_REASON_LENGTH, 1).optional().meta({ description: 'Required with `changes_requested`.' }),
    submission: submissionInput.optional().meta({ description: 'With `submitted`.' }),
    title: name.optional(),
    description: description.nullable().optional(),
    due_date: calendarDay.nullable().optional(),
    payee_id: name.nullable().optional(),
    metadata: metadataPatch.optional(),
    amount: amount.optional().meta({ description: 'Fixed once submitted, until changes are requested.' }),
    currency: currency.optional().meta({ description: 'Fixed once submitted, until changes are requested.' }),
  })
  .meta({
    id: 'MilestoneUpdate',
    description:
      'A change of a milestone: its status, its fields, or both as one decision, fields first. Fields not named stay as they are.',
    example: milestoneUpdateExample,
  });

export type MilestoneUpdate = z.output<typeof milestoneUpdate>;
