// The rows that the by-hand server reads and the schemas by which Fastify serializes its answers: the same fields as ours.
// Types and schemas only.

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
