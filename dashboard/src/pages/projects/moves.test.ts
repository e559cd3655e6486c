// What is offered and what is said before it: only allowed moves that the role may do, and the money named with its amount, its receiver and its time.

import { describe, expect, test } from 'vitest';
import type { Milestone, MilestoneStatus, Scope } from '../../client/sdk.ts';
import { linksOf } from './links.ts';
import { amountProblem, blankMilestone, createBodyOf, metadataPatchOf, updateBodyOf, valuesOf } from './milestone-fields.ts';
import { effectOf, milestoneDifferences, movesOf } from './moves.ts';

const moves: Readonly<Record<MilestoneStatus, MilestoneStatus[]>> = {
  pending: ['in_progress', 'submitted', 'cancelled'],
  in_progress: ['submitted', 'cancelled'],
  submitted: ['approved', 'changes_requested', 'in_progress'],
  changes_requested: ['in_progress', 'submitted', 'cancelled'],
  approved: [],
  cancelled: [],
};

const milestone = (status: MilestoneStatus, more: Partial<Milestone> = {}): Milestone => ({
  id: 'mil_1',
  object: 'milestone',
  project_id: 'prj_1',
  title: 'Design',
  description: null,
  amount: 120_000,
  currency: 'EUR',
  payee_id: 'ada',
  due_date: null,
  status,
  allowed_transitions: moves[status],
  reason: null,
  submission: null,
  metadata: {},
  submitted_at: null,
  approved_at: null,
  version: 1,
  created_at: '2026-05-01T10:00:00.000Z',
  updated_at: '2026-05-01T10:00:00.000Z',
  ...more,
});

const active = { status: 'active' } as const;
const labels = (status: MilestoneStatus, can: (scope: Scope) => boolean): string[] =>
  movesOf(milestone(status), active, can).map(({ label }) => label);

describe('the moves that are offered', () => {
  test.each(Object.keys(moves) as MilestoneStatus[])('from %s they are those that the server allows', (status) => {
    const offered = movesOf(milestone(status), active, () => true).map(({ to }) => to);
    expect(offered.toSorted()).toEqual(moves[status].toSorted());
  });

  test('a role gets only those of its scopes', () => {
    expect(labels('submitted', (scope) => scope === 'milestones:approve')).toEqual(['Approve', 'Request changes']);
    expect(labels('submitted', (scope) => scope === 'milestones:submit')).toEqual(['Withdraw']);
    expect(labels('pending', (scope) => scope === 'milestones:write')).toEqual(['Cancel milestone']);
    expect(labels('submitted', () => false)).toEqual([]);
  });

  test('in an archived project there are none', () => {
    expect(movesOf(milestone('submitted'), { status: 'archived' }, () => true)).toEqual([]);
  });
});

describe('the effect that is stated', () => {
  const said = (to: MilestoneStatus, release: 'on_approval' | 'manual', of = milestone('submitted')): string =>
    effectOf(to, of, { release, client_id: 'acme' }).money;

  test('an approval names the amount, its currency, the payee, and whether it is released now or waits', () => {
    expect(said('approved', 'on_approval')).toMatch(/€1,200\.00 is released to ada now/);
    expect(said('approved', 'manual')).toMatch(/payment of €1,200\.00 to ada is made and waits for its release/);
  });

  test('nobody to be paid is said', () => {
    expect(said('approved', 'on_approval', milestone('submitted', { payee_id: null }))).toContain('nobody named as payee');
  });

  test.each(['changes_requested', 'cancelled', 'in_progress', 'submitted'] as const)('%s moves no money, and says so', (to) => {
    expect(said(to, 'on_approval')).toMatch(/^No money moves/);
  });

  test('an amount without digits after the point is said without them', () => {
    expect(said('approved', 'on_approval', milestone('submitted', { amount: 1_500, currency: 'JPY' }))).toContain('¥1,500 is');
  });
});

test('what somebody else changed is named field by field', () => {
  const after = milestone('submitted', { amount: 130_000, version: 2 });
  expect(milestoneDifferences(milestone('pending'), after)).toEqual([
    { field: 'Status', from: 'pending', to: 'submitted' },
    { field: 'Amount', from: '€1,200.00', to: '€1,300.00' },
  ]);
});

describe('what is sent', () => {
  test('of an edit only what was changed', () => {
    const before = milestone('pending', { metadata: { a: '1', b: '2' } });
    expect(updateBodyOf(valuesOf(before), before)).toEqual({});
    expect(updateBodyOf({ ...valuesOf(before), amount: '1,300.50' }, before)).toEqual({ amount: 130_050 });
    expect(updateBodyOf({ ...valuesOf(before), payee_id: '' }, before)).toEqual({ payee_id: null });
    expect(metadataPatchOf(before.metadata, [{ key: 'b', value: '3' }])).toEqual({ a: null, b: '3' });
  });

  test('of a new milestone nothing that was left empty, and the amount in the units of its currency', () => {
    expect(createBodyOf({ ...blankMilestone(), title: ' Design ', amount: '1500' }, 'JPY')).toEqual({ title: 'Design', amount: 1_500 });
    expect(createBodyOf({ ...blankMilestone('KWD'), title: 'D', amount: '1.5' }, 'JPY')).toMatchObject({ amount: 1_500, currency: 'KWD' });
  });

  test.each([
    ['', 'EUR'],
    ['0', 'EUR'],
    ['1.5', 'JPY'],
    ['10000000000', 'EUR'],
    ['-1', 'EUR'],
  ])('the amount %j in %s is refused beside its field', (text, currency) => {
    expect(amountProblem(text, currency)).not.toBeNull();
  });

  test('of links only addresses of the web', () => {
    expect(linksOf(' https://a.example/x \n\nHTTP://b.example')).toEqual(['https://a.example/x', 'HTTP://b.example']);
    for (const bad of ['javascript:alert(1)', 'data:text/html,x', 'a.example', 'https://']) expect(linksOf(bad)).toBeNull();
  });
});
