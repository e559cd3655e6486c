// Members and invitations by the rules alone: who joins, who gives which role, who goes, and what the audit log is told.

import { describe, expect, test } from 'vitest';
import { changesBetween } from './audit.ts';
import type { Context, Decision } from './decision.ts';
import { INVITATION_LIFETIME_MS, type Invitation, statusOf } from './invitation.ts';
import { decideAcceptance, decideInvitation, decideInvitationRevocation } from './inviting.ts';
import { hashToken, makeLinkToken } from './link-token.ts';
import { decideFirstOwner, decideMakeOwner, decideRemoval, decideRoleChange, join, MAX_MEMBERS, type Member } from './member.ts';
import { refusePassword } from './person.ts';
import { type Role, roleScopes } from './roles.ts';

const now = new Date('2026-03-02T09:30:00.000Z');
const later = new Date(now.getTime() + INVITATION_LIFETIME_MS);
let made = 0;
const id = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const context: Context = {
  workspace: { id: id(1), name: 'w', defaultCurrency: 'USD', invoicePrefix: 'INV-', createdAt: now, closedAt: null },
  now,
  newId: () => id(1000 + ++made),
  nextInvoiceNumber: 1,
  lastSeq: 0,
};
const at = (time: Date): Context => ({ ...context, now: time });
const member = (n: number, role: Role, change: Partial<Member> = {}): Member => ({
  ...{ id: id(n), workspaceId: id(1), personId: id(n + 100), role, createdAt: now, updatedAt: now, removedAt: null },
  ...change,
});
const actor = (role: Role, personId: string | null = null) => ({ scopes: roleScopes[role], personId });
/** Nobody invited anybody. */
const alone = ({ id }: Pick<Member, 'id'>) => ({ id, email: 'somebody@example.com', invitations: [] });
const of = (members: readonly Member[], ...invitations: Invitation[]) => ({ members, invitations });
const codeOf = (decision: Decision<unknown>): string => (decision.accepted ? 'accepted' : decision.refusal.code);
const actionsOf = (decision: Decision<unknown>) => (decision.accepted ? (decision.changes.audit ?? []).map(({ action }) => action) : []);
const person = { id: id(500), email: 'grace@example.com', name: 'Grace', totpEnabled: false, createdAt: now };

function invite(): Invitation {
  const draft = { email: 'Grace@Example.com', role: 'developer', tokenHash: hashToken('t') } as const;
  const decision = decideInvitation(draft, actor('owner'), of([member(2, 'owner')]), null, context);
  if (!decision.accepted) throw new Error(decision.refusal.code);
  return decision.result;
}

describe('an invitation', () => {
  test('makes the one with its address a member, once, until its end (I-33)', () => {
    const invitation = invite();
    const owners = [member(2, 'owner')];
    const accepted = decideAcceptance(invitation.id, person, of(owners, invitation), context);
    expect(accepted).toMatchObject({ accepted: true, result: { personId: person.id, role: 'developer' } });
    expect(actionsOf(accepted)).toEqual(['invitation.accepted', 'member.added']);
    const used = accepted.accepted ? (accepted.changes.invitations?.[0] as Invitation) : invitation;
    expect(codeOf(decideAcceptance(used.id, { ...person, id: id(501) }, of(owners, used), context))).toBe('invitation_invalid');
    expect(codeOf(decideAcceptance(invitation.id, { ...person, email: 'other@example.com' }, of(owners, invitation), context))).toBe(
      'invitation_invalid',
    );
    expect(codeOf(decideAcceptance(invitation.id, person, of(owners, invitation), at(later)))).toBe('invitation_invalid');
    expect(codeOf(decideAcceptance(id(998), person, of(owners), context))).toBe('invitation_invalid');
    expect(
      codeOf(decideAcceptance(invitation.id, person, of([...owners, member(3, 'viewer', { personId: person.id })], invitation), context)),
    ).toBe('already_member');
  });

  test('that was revoked is worth nothing; one that was accepted is not revoked any more (I-33)', () => {
    const invitation = invite();
    const revoked = decideInvitationRevocation(invitation, context);
    const gone = revoked.accepted ? revoked.result : invitation;
    expect([statusOf(gone, now), statusOf(invitation, later), statusOf({ ...invitation, acceptedAt: now }, later)]).toEqual([
      'revoked',
      'expired',
      'accepted',
    ]);
    expect(codeOf(decideAcceptance(gone.id, person, of([], gone), context))).toBe('invitation_invalid');
    expect(actionsOf(revoked)).toEqual(['invitation.revoked']);
    expect(actionsOf(decideInvitationRevocation(gone, context))).toEqual([]);
    expect(codeOf(decideInvitationRevocation({ ...invitation, acceptedAt: now }, context))).toBe('invalid_transition');
  });

  test('is made by those alone who may do what it gives', () => {
    const draft = { email: 'a@b.test', role: 'finance', tokenHash: hashToken('t') } as const;
    for (const role of ['owner', 'admin', 'finance'] as const)
      expect(codeOf(decideInvitation(draft, actor(role), of([]), null, context))).toBe('accepted');
    for (const role of ['developer', 'viewer'] as const)
      expect(codeOf(decideInvitation(draft, actor(role), of([]), null, context))).toBe('scope_escalation');
  });
});

describe('members', () => {
  test('the first one owns the server, and nobody after them does so by the same way (I-28)', () => {
    expect(decideFirstOwner(person.id, 'Grace', [], context)).toMatchObject({ result: { role: 'owner' } });
    expect(codeOf(decideFirstOwner(person.id, 'Grace', [member(2, 'viewer', { removedAt: now })], context))).toBe('sign_up_refused');
  });

  test('the last owner is neither changed nor removed, one of two is (I-34)', () => {
    const [one, other] = [member(2, 'owner'), member(3, 'owner')];
    const gone = member(4, 'owner', { removedAt: now });
    expect(codeOf(decideRoleChange(alone(one), 'viewer', actor('owner'), [one, gone], context))).toBe('last_owner');
    expect(codeOf(decideRemoval(alone(one), actor('viewer', one.personId), [one, gone], context))).toBe('last_owner');
    expect(codeOf(decideRoleChange(alone(one), 'viewer', actor('owner'), [one, other], context))).toBe('accepted');
    expect(codeOf(decideRemoval(alone(one), actor('owner'), [one, other], context))).toBe('accepted');
  });

  test('owners are changed by owners; everybody may leave', () => {
    const all = [member(2, 'owner'), member(3, 'owner'), member(4, 'viewer')];
    const [owner, , viewer] = all as [Member, Member, Member];
    expect(codeOf(decideRemoval(alone(owner), actor('admin'), all, context))).toBe('insufficient_scope');
    expect(codeOf(decideRoleChange(alone(owner), 'admin', actor('admin'), all, context))).toBe('insufficient_scope');
    expect(codeOf(decideRemoval(alone(owner), actor('viewer', viewer.personId), all, context))).toBe('insufficient_scope');
    expect(codeOf(decideRemoval(alone(viewer), actor('viewer', viewer.personId), all, context))).toBe('accepted');
    expect(actionsOf(decideMakeOwner(alone(viewer), all, context))).toEqual(['member.role_changed']);
    expect(actionsOf(decideMakeOwner(alone(owner), all, context))).toEqual([]);
  });

  test('who is gone is absent; who comes back is the same member; a full workspace takes nobody', () => {
    const gone = member(2, 'viewer', { removedAt: now });
    for (const decision of [
      decideRoleChange(alone(gone), 'viewer', actor('owner'), [gone], context),
      decideRemoval(alone(gone), actor('owner'), [gone], context),
      decideMakeOwner(alone(gone), [gone], context),
      decideMakeOwner(alone({ id: id(999) }), [gone], context),
    ])
      expect(codeOf(decision)).toBe('not_found');
    expect(join(gone.personId, 'n', 'finance', [gone], context)).toMatchObject({
      result: { id: gone.id, role: 'finance', removedAt: null },
    });
    const full = Array.from({ length: MAX_MEMBERS }, (_, n) => member(2000 + n, 'viewer'));
    expect(codeOf(join(person.id, 'n', 'viewer', full, context))).toBe('too_many_members');
  });
});

test('changes between two states are the fields that differ', () => {
  expect(changesBetween({ a: 1, b: ['x'], c: null }, { a: 1, b: ['x', 'y'], c: 'z' })).toEqual({
    b: { from: ['x'], to: ['x', 'y'] },
    c: { from: null, to: 'z' },
  });
  expect(changesBetween(null, { a: 1, b: null })).toEqual({ a: { from: null, to: 1 } });
});

test('a link token says what it is for and is different each time', () => {
  const random = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);
  expect(makeLinkToken('setup', random)).toMatch(/^setup_[\w-]{24}$/);
  expect(makeLinkToken('inv', random)).not.toBe(makeLinkToken('inv', random));
});

test.each([
  ['twelve chars', true],
  ['correct horse battery', true],
  ['eleven char', false],
  ['zzzzzzzzzzzzzzzz', false],
  ['password!!!!1234', false],
  ['ada.byron@x.test', false],
  ['adabyron1234', false],
  ['ada byron walked to the sea', true],
  ['пароль из многих слов', true],
])('the password %j will do: %j', (password, will) => {
  expect(refusePassword(password, { email: 'ada.byron@x.test', name: 'Ada Byron' }) === null).toBe(will);
});
