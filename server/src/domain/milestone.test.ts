// Every cell of the milestone's state table, and every rule of an edit: given a milestone, when asked, then this.

import { describe, expect, test } from 'vitest';
import type { Context, Decision } from './decision.ts';
import {
  decideMilestoneCreation,
  decideMilestoneUpdate,
  editableIn,
  type Milestone,
  type MilestoneStatus,
  milestoneMoves,
  milestoneStatuses,
} from './milestone.ts';
import type { Project } from './project.ts';

const now = new Date('2026-05-01T10:00:00.000Z');
const workspaceId = '01900000-0000-7000-8000-000000000001';

function context(): Context {
  let made = 0;
  const newId = (): string => `01900000-0000-7000-8000-1${String(++made).padStart(11, '0')}`;
  return {
    workspace: { id: workspaceId, name: 'w', defaultCurrency: 'USD', invoicePrefix: 'INV-', createdAt: now, closedAt: null },
    now,
    newId,
    nextInvoiceNumber: 7,
    lastSeq: 3,
  };
}

const project: Project = {
  id: '01900000-0000-7000-8000-000000000002',
  workspaceId,
  name: 'Website',
  clientId: 'acme',
  payeeId: 'ada',
  currency: 'EUR',
  release: 'on_approval',
  status: 'active',
  metadata: {},
  version: 1,
  createdAt: now,
  updatedAt: now,
};

function given(status: MilestoneStatus, more: Partial<Milestone> = {}): Milestone {
  return {
    id: '01900000-0000-7000-8000-000000000003',
    workspaceId,
    projectId: project.id,
    title: 'Design',
    description: null,
    amountMinor: 125_000n,
    currency: 'EUR',
    payeeId: 'ada',
    dueDate: null,
    status,
    reason: null,
    submission: null,
    metadata: {},
    submittedAt: null,
    approvedAt: null,
    version: 4,
    createdAt: now,
    updatedAt: now,
    ...more,
  };
}

function accepted<T>(decision: Decision<T>) {
  if (!decision.accepted) throw new Error(`refused: ${decision.refusal.code} ${decision.refusal.detail}`);
  return decision;
}

const codeOf = (decision: Decision<unknown>): string => (decision.accepted ? 'accepted' : decision.refusal.code);

describe('every status × every status', () => {
  const cells = milestoneStatuses.flatMap((from) => milestoneStatuses.map((to) => [from, to] as const));
  test.each(cells)('%s → %s follows the table', (from, to) => {
    const milestone = given(from);
    const decision = decideMilestoneUpdate({ status: to, reason: 'because' }, null, milestone, project, context());
    const allowed = (milestoneMoves[from] as readonly string[]).includes(to);
    if (from === to) {
      expect(accepted(decision).result).toBe(milestone);
      expect(accepted(decision).changes).toEqual({});
    } else if (allowed) {
      expect(accepted(decision).result).toMatchObject({ status: to, version: 5 });
      const payments = to === 'approved' ? 1 : 0;
      expect(accepted(decision).changes.payments ?? []).toHaveLength(payments);
    } else expect(codeOf(decision)).toBe('invalid_transition');
  });

  test.each(cells.filter(([from, to]) => from !== to))('%s → %s is refused or does nothing in an archived project', (from, to) => {
    const decision = decideMilestoneUpdate(
      { status: to, reason: 'because' },
      null,
      given(from),
      { ...project, status: 'archived' },
      context(),
    );
    const allowed = (milestoneMoves[from] as readonly string[]).includes(to);
    expect(codeOf(decision)).toBe(allowed ? 'project_archived' : 'invalid_transition');
  });
});

describe('approval', () => {
  test('pays, invoices and posts balanced entries in one decision, and tells of the release last (I-2, I-9)', () => {
    const { changes } = accepted(decideMilestoneUpdate({ status: 'approved' }, null, given('submitted'), project, context()));
    const [payment] = changes.payments ?? [];
    const [invoice] = changes.invoices ?? [];
    expect(payment).toMatchObject({
      status: 'released',
      amountMinor: 125_000n,
      currency: 'EUR',
      payeeId: 'ada',
      clientId: 'acme',
      invoiceId: invoice?.id,
    });
    expect(invoice).toMatchObject({ number: 7, status: 'issued', paymentStatus: 'paid', totalMinor: 125_000n, paymentId: payment?.id });
    expect(changes.entries?.reduce((sum, entry) => sum + entry.amountMinor, 0n)).toBe(0n);
    expect(changes.entries?.map((entry) => [entry.account, entry.amountMinor])).toEqual([
      ['receivable', 125_000n],
      ['paid_out', -125_000n],
    ]);
    expect(changes.events?.map((event) => event.type)).toEqual(['milestone.approved', 'invoice.issued', 'payment.released']);
  });

  test('the payload of payment.released has exactly the four given fields', () => {
    const { changes } = accepted(decideMilestoneUpdate({ status: 'approved' }, null, given('submitted'), project, context()));
    const body = JSON.parse(changes.events?.at(-1)?.body ?? '') as { event: string; data: Record<string, unknown> };
    expect(Object.keys(body)).toEqual(['event', 'data']);
    expect(Object.keys(body.data)).toEqual(['projectId', 'milestoneId', 'amount', 'currency']);
    expect(body.data).toMatchObject({ amount: 125_000, currency: 'EUR' });
  });

  test('in a project of manual release it leaves the payment pending and the invoice unpaid, and tells of no release', () => {
    const { changes } = accepted(
      decideMilestoneUpdate({ status: 'approved' }, null, given('submitted'), { ...project, release: 'manual' }, context()),
    );
    expect(changes.payments).toMatchObject([{ status: 'pending', releasedAt: null }]);
    expect(changes.invoices).toMatchObject([{ paymentStatus: 'unpaid', paidAt: null }]);
    expect(changes.entries?.map((entry) => [entry.account, entry.amountMinor])).toEqual([
      ['receivable', 125_000n],
      ['payable', -125_000n],
    ]);
    expect(changes.events?.map((event) => event.type)).toEqual(['milestone.approved', 'invoice.issued']);
  });
});

describe('edits', () => {
  test.each(milestoneStatuses)('in %s details and amount change only as the table allows', (status) => {
    const title = decideMilestoneUpdate({ title: 'Other' }, null, given(status), project, context());
    const amount = decideMilestoneUpdate({ amountMinor: 1n }, null, given(status), project, context());
    expect(codeOf(title)).toBe(editableIn[status].details ? 'accepted' : 'not_editable');
    expect(codeOf(amount)).toBe(editableIn[status].amount ? 'accepted' : 'not_editable');
  });

  test('fields come first: an amount sent with the submission is the amount submitted', () => {
    const { result } = accepted(
      decideMilestoneUpdate({ status: 'submitted', amountMinor: 9n }, null, given('pending'), project, context()),
    );
    expect(result).toMatchObject({ status: 'submitted', amountMinor: 9n, submittedAt: now });
  });

  test('an amount sent with the approval is refused, and with it the approval', () => {
    expect(codeOf(decideMilestoneUpdate({ status: 'approved', amountMinor: 9n }, null, given('submitted'), project, context()))).toBe(
      'not_editable',
    );
  });

  test('an edit that changes nothing is accepted in any status and writes nothing', () => {
    for (const status of milestoneStatuses) {
      const milestone = given(status);
      expect(
        accepted(decideMilestoneUpdate({ title: 'Design', amountMinor: 125_000n }, null, milestone, project, context())),
      ).toMatchObject({
        result: milestone,
        changes: {},
      });
    }
  });

  test('a stale version is refused before anything else', () => {
    expect(codeOf(decideMilestoneUpdate({ status: 'approved' }, 3, given('submitted'), project, context()))).toBe('precondition_failed');
    expect(codeOf(decideMilestoneUpdate({ status: 'approved' }, 4, given('submitted'), project, context()))).toBe('accepted');
  });

  test('requesting changes needs a reason; a reason or a submission without its move is refused', () => {
    expect(codeOf(decideMilestoneUpdate({ status: 'changes_requested' }, null, given('submitted'), project, context()))).toBe(
      'validation_failed',
    );
    expect(codeOf(decideMilestoneUpdate({ reason: 'x' }, null, given('submitted'), project, context()))).toBe('validation_failed');
    expect(codeOf(decideMilestoneUpdate({ submission: { note: 'x', links: [] } }, null, given('pending'), project, context()))).toBe(
      'validation_failed',
    );
  });

  test('metadata merges, null deletes, and a 51st key is refused', () => {
    const milestone = given('pending', { metadata: { a: '1', b: '2' } });
    expect(accepted(decideMilestoneUpdate({ metadata: { a: null, c: '3' } }, null, milestone, project, context())).result.metadata).toEqual(
      { b: '2', c: '3' },
    );
    const full = Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`k${i}`, 'v']));
    expect(codeOf(decideMilestoneUpdate({ metadata: full }, null, milestone, project, context()))).toBe('validation_failed');
  });

  test('a withdrawal takes the submission back', () => {
    const milestone = given('submitted', { submittedAt: now, submission: { note: 'done', links: [] } });
    expect(accepted(decideMilestoneUpdate({ status: 'in_progress' }, null, milestone, project, context())).result).toMatchObject({
      submittedAt: null,
      submission: null,
    });
  });
});

test('a new milestone takes currency and payee over from its project, unless it names its own', () => {
  const draft = { title: 't', description: null, amountMinor: 1n, currency: null, payeeId: null, dueDate: null, metadata: {} };
  expect(accepted(decideMilestoneCreation(draft, project, context())).result).toMatchObject({
    currency: 'EUR',
    payeeId: 'ada',
    status: 'pending',
    version: 1,
  });
  expect(accepted(decideMilestoneCreation({ ...draft, currency: 'JPY', payeeId: 'bob' }, project, context())).result).toMatchObject({
    currency: 'JPY',
    payeeId: 'bob',
  });
  expect(codeOf(decideMilestoneCreation(draft, { ...project, status: 'archived' }, context()))).toBe('project_archived');
});
