// The moves of a milestone in words: what each is called, which scope it asks for, and what it does to the money.
// Offers nothing that the server does not name as allowed, and sends nothing.

import type { Milestone, MilestoneStatus, Project, Scope } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';

export interface Move {
  readonly to: MilestoneStatus;
  /** What the button says. */
  readonly label: string;
  /** The question that comes first; null where nothing is lost by doing it at once. */
  readonly question: string | null;
  readonly scope: Scope;
  /** What usually comes next stands out. */
  readonly isForward: boolean;
  readonly isDanger: boolean;
}

const calm = { isForward: false, isDanger: false, question: null } as const;

function moveTo(to: MilestoneStatus, from: MilestoneStatus): Move {
  switch (to) {
    case 'in_progress':
      if (from === 'submitted') return { ...calm, to, label: 'Withdraw', question: 'Withdraw the submission?', scope: 'milestones:submit' };
      return { ...calm, to, label: from === 'changes_requested' ? 'Resume' : 'Start', scope: 'milestones:submit' };
    case 'submitted':
      return { ...calm, to, label: 'Submit', question: 'Submit this milestone?', scope: 'milestones:submit', isForward: true };
    case 'approved':
      return { ...calm, to, label: 'Approve', question: 'Approve this milestone?', scope: 'milestones:approve', isForward: true };
    case 'changes_requested':
      return { ...calm, to, label: 'Request changes', question: 'Request changes?', scope: 'milestones:approve' };
    case 'cancelled':
      return { ...calm, to, label: 'Cancel milestone', question: 'Cancel this milestone?', scope: 'milestones:write', isDanger: true };
    case 'pending':
      return { ...calm, to, label: 'Set back', question: 'Set this milestone back?', scope: 'milestones:write' };
  }
}

/** In the order in which they are offered: what goes forward first, what ends last. */
const order: readonly MilestoneStatus[] = ['approved', 'submitted', 'changes_requested', 'in_progress', 'pending', 'cancelled'];

/** What may be done with it now: what the server allows, in a project that is open, by a role that may. */
export function movesOf(milestone: Milestone, project: Pick<Project, 'status'>, can: (scope: Scope) => boolean): readonly Move[] {
  if (project.status === 'archived') return [];
  return order
    .filter((to) => milestone.allowed_transitions.includes(to))
    .map((to) => moveTo(to, milestone.status))
    .filter(({ scope }) => can(scope));
}

/** What the fields of a milestone may still be changed to: nothing once it is final, no amount while it is submitted. */
export function editableOf({ status }: Milestone): { readonly details: boolean; readonly amount: boolean } {
  const isFinal = status === 'approved' || status === 'cancelled';
  return { details: !isFinal, amount: !isFinal && status !== 'submitted' };
}

export interface Effect {
  /** What happens to the money, first and in one sentence. */
  readonly money: string;
  /** What else follows. */
  readonly rest: string;
  /** What the button says: a verb and, where money moves, how much. */
  readonly confirm: string;
}

const payee = ({ payee_id }: Milestone): string => (payee_id === null ? 'nobody named as payee yet' : payee_id);

/** What a move does, said before it is done. */
export function effectOf(to: MilestoneStatus, milestone: Milestone, project: Pick<Project, 'release' | 'client_id'>): Effect {
  const amount = formatMoney(milestone.amount, milestone.currency);
  const isReleased = project.release === 'on_approval';
  const whom = payee(milestone);
  switch (to) {
    case 'approved':
      if (isReleased)
        return {
          money: `${amount} is released to ${whom} now.`,
          rest: `An invoice to ${project.client_id} is issued and marked paid. An approval is final: neither it nor the release can be taken back.`,
          confirm: `Approve and release ${amount}`,
        };
      return {
        money: `A payment of ${amount} to ${whom} is made and waits for its release. No money moves yet.`,
        rest: `An invoice to ${project.client_id} is issued and stays unpaid until the payment is released. An approval is final.`,
        confirm: `Approve ${amount}`,
      };
    case 'submitted':
      return {
        money: `No money moves yet. Once approved, ${amount} ${isReleased ? 'is released' : 'waits for its release'} to ${whom}.`,
        rest: 'Its amount is fixed from now on, until changes are requested or the submission is withdrawn.',
        confirm: 'Submit',
      };
    case 'changes_requested':
      return {
        money: 'No money moves.',
        rest: 'The milestone goes back to who works on it, with your reason.',
        confirm: 'Request changes',
      };
    case 'cancelled':
      return {
        money: `No money moves. ${amount} is no longer planned, and will never be paid for this milestone.`,
        rest: 'A cancellation is final.',
        confirm: 'Cancel milestone',
      };
    case 'in_progress':
    case 'pending':
      return {
        money: 'No money moves.',
        rest: milestone.status === 'submitted' ? 'The note and the links that were handed in are removed.' : '',
        confirm: milestone.status === 'submitted' ? 'Withdraw' : 'Start',
      };
  }
}

const fieldWords: readonly (readonly [keyof Milestone, string])[] = [
  ['status', 'Status'],
  ['title', 'Title'],
  ['amount', 'Amount'],
  ['currency', 'Currency'],
  ['payee_id', 'Payee'],
  ['due_date', 'Due'],
  ['description', 'Description'],
  ['reason', 'Reason'],
  ['submission', 'Submission'],
  ['metadata', 'Metadata'],
];

export interface Difference {
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

/** What became of a record since it was looked at, field by field. */
export function differencesOf<Entity extends object>(
  before: Entity,
  after: Entity,
  words: readonly (readonly [keyof Entity, string])[],
  textOf: (field: keyof Entity, entity: Entity) => string,
): readonly Difference[] {
  return words
    .map(([field, label]) => ({ field: label, from: textOf(field, before), to: textOf(field, after) }))
    .filter(({ from, to }) => from !== to);
}

function milestoneText(field: keyof Milestone, milestone: Milestone): string {
  if (field === 'amount') return formatMoney(milestone.amount, milestone.currency);
  const value = milestone[field];
  if (value === null || value === '') return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value).replaceAll('_', ' ');
}

export const milestoneDifferences = (before: Milestone, after: Milestone): readonly Difference[] =>
  differencesOf(before, after, fieldWords, milestoneText);

const projectWords: readonly (readonly [keyof Project, string])[] = [
  ['status', 'Status'],
  ['name', 'Name'],
  ['client_id', 'Client'],
  ['payee_id', 'Payee'],
  ['currency', 'Currency'],
  ['release', 'Release'],
  ['metadata', 'Metadata'],
];

function projectText(field: keyof Project, project: Project): string {
  const value = project[field];
  if (value === null) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const projectDifferences = (before: Project, after: Project): readonly Difference[] =>
  differencesOf(before, after, projectWords, projectText);
