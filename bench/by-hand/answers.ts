// The rows that the by-hand server reads, the answers made of them and the schemas by which Fastify serializes these: the same fields as ours.
// Asks no database and decides nothing.

import { encodeId } from '../../server/src/domain/ids.ts';

export interface PaymentRow {
  id: string;
  project_id: string;
  milestone_id: string;
  invoice_id: string;
  client_id: string;
  payee_id: string | null;
  amount_minor: string;
  currency: string;
  status: string;
  released_at: Date | null;
  created_at: Date;
}

export interface MilestoneRow {
  workspace_id: string;
  id: string;
  project_id: string;
  client_id: string;
  title: string;
  description: string | null;
  amount_minor: string;
  currency: string;
  payee_id: string | null;
  due_date: string | null;
  status: string;
  reason: string | null;
  submission: { note: string | null; links: string[] } | null;
  metadata: Record<string, string>;
  submitted_at: Date | null;
  approved_at: Date | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

export interface ProjectRow {
  id: string;
  name: string;
  client_id: string;
  payee_id: string | null;
  currency: string;
  release: string;
  status: string;
  metadata: Record<string, string>;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const time = { type: 'string', format: 'date-time' } as const;
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const;
const integer = { type: 'integer' } as const;
const texts = { type: 'array', items: text } as const;

function answer(properties: Record<string, object>): object {
  return { type: 'object', required: Object.keys(properties), properties };
}

export const paymentAnswer = answer({
  id: text,
  object: text,
  project_id: text,
  milestone_id: text,
  invoice_id: text,
  client_id: text,
  payee_id: textOrNull,
  amount: integer,
  currency: text,
  status: text,
  allowed_transitions: texts,
  released_at: timeOrNull,
  created_at: time,
});

export const milestoneAnswer = answer({
  id: text,
  object: text,
  project_id: text,
  title: text,
  description: textOrNull,
  amount: integer,
  currency: text,
  payee_id: textOrNull,
  due_date: textOrNull,
  status: text,
  allowed_transitions: texts,
  reason: textOrNull,
  submission: { ...(answer({ note: textOrNull, links: texts }) as Record<string, unknown>), type: ['object', 'null'] },
  metadata: { type: 'object', additionalProperties: text },
  submitted_at: timeOrNull,
  approved_at: timeOrNull,
  version: integer,
  created_at: time,
  updated_at: time,
});

export const problemAnswer = answer({ type: text, title: text, status: integer, code: text });

export const paymentPage = answer({
  object: text,
  data: { type: 'array', items: paymentAnswer },
  has_more: { type: 'boolean' },
  next_cursor: textOrNull,
});

export const projectAnswer = answer({
  id: text,
  object: text,
  name: text,
  client_id: text,
  payee_id: textOrNull,
  currency: text,
  release: text,
  status: text,
  allowed_transitions: texts,
  metadata: { type: 'object', additionalProperties: text },
  version: integer,
  created_at: time,
  updated_at: time,
});

export function presentPayment(row: PaymentRow): Record<string, unknown> {
  return {
    id: encodeId('payment', row.id),
    object: 'payment',
    project_id: encodeId('project', row.project_id),
    milestone_id: encodeId('milestone', row.milestone_id),
    invoice_id: encodeId('invoice', row.invoice_id),
    client_id: row.client_id,
    payee_id: row.payee_id,
    amount: Number(row.amount_minor),
    currency: row.currency,
    status: row.status,
    allowed_transitions: row.status === 'pending' ? ['released'] : [],
    released_at: row.released_at,
    created_at: row.created_at,
  };
}

const movesFrom: Record<string, string[]> = { approved: [], submitted: ['approved', 'changes_requested', 'in_progress'] };

export function presentMilestone(row: MilestoneRow): Record<string, unknown> {
  const { workspace_id: _workspace, client_id: _client, amount_minor, ...fields } = row;
  return {
    ...fields,
    id: encodeId('milestone', row.id),
    object: 'milestone',
    project_id: encodeId('project', row.project_id),
    amount: Number(amount_minor),
    allowed_transitions: movesFrom[row.status],
  };
}

export function presentProject(row: ProjectRow): Record<string, unknown> {
  return { ...row, id: encodeId('project', row.id), object: 'project', allowed_transitions: ['archived'] };
}
