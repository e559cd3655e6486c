// Which invitations fall with what happens to people: by the rules alone.
// A link that is still about must never give back what was taken away.

import { describe, expect, test } from 'vitest';
import type { Context, Decision } from './decision.ts';
import type { Invitation } from './invitation.ts';
import { decideAcceptance, decideInvitation, MAX_PENDING_INVITATIONS } from './inviting.ts';
import { decideMakeOwner, decideRemoval, decideRoleChange, type Member } from './member.ts';
import { type GivenRole, type Role, roleScopes } from './roles.ts';

const now = new Date('2026-03-02T09:30:00.000Z');
const tomorrow = new Date('2026-03-03T09:30:00.000Z');
const id = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
let made = 0;
const context: Context = {
  workspace: { id: id(1), name: 'w', defaultCurrency: 'USD', invoicePrefix: 'INV-', createdAt: now, closedAt: null },
  now,
  newId: () => id(10_000 + ++made),
  nextInvoiceNumber: 1,
  lastSeq: 0,
};

const member = (n: number, role: Role, removedAt: Date | null = null): Member => ({
  ...{ id: id(n), workspaceId: id(1), personId: id(n + 100), role, createdAt: now, updatedAt: now, removedAt },
});
const [owner, admin, grace] = [member(2, 'owner'), member(3, 'admin'), member(4, 'viewer')];
const everybody = [owner, admin, grace];
const asOwner = { scopes: roleScopes.owner, personId: owner.personId };

const invitation = (n: number, email: string, change: Partial<Invitation> = {}): Invitation => ({
  ...{ id: id(n), workspaceId: id(1), email, role: 'developer', tokenHash: Buffer.alloc(32), invitedBy: owner.personId },
  ...{ expiresAt: tomorrow, acceptedAt: null, revokedAt: null, createdAt: now },
  ...change,
});

/** The ids that a decision revokes, if each also has its entry in the audit log. */
function revokedBy(decision: Decision<unknown>): string[] {
  if (!decision.accepted) throw new Error(decision.refusal.code);
  const { invitations = [], audit = [] } = decision.changes;
  const revoked = invitations.filter(({ revokedAt }) => revokedAt !== null).map((one) => one.id);
  expect(audit.filter(({ action }) => action === 'invitation.revoked').map(({ target }) => target.id)).toEqual(revoked);
  return revoked;
}

const ofGrace = invitation(20, 'grace@example.com');
const ofOther = invitation(21, 'other@example.com');
const byAdmin = invitation(22, 'new@example.com', { invitedBy: admin.personId });
const byKey = invitation(23, 'bot@example.com', { invitedBy: null });
const overByAdmin = [
  invitation(24, 'a@example.com', { invitedBy: admin.personId, expiresAt: now }),
  invitation(25, 'b@example.com', { invitedBy: admin.personId, acceptedAt: now }),
  invitation(26, 'c@example.com', { invitedBy: admin.personId, revokedAt: now }),
];
const invitations = [ofGrace, ofOther, byAdmin, byKey, ...overByAdmin];
const concerning = ({ id: of }: Member, email: string) => ({ id: of, email, invitations });

describe('an invitation that waits', () => {
  test('falls when another one to its address is accepted (I-33)', () => {
    const spare = invitation(30, 'new@example.com', { role: 'admin' });
    const person = { id: id(500), email: 'New@Example.com', name: 'New' };
    const accepted = decideAcceptance(byAdmin.id, person, { members: everybody, invitations: [...invitations, spare] }, context);
    expect(revokedBy(accepted)).toEqual([spare.id]);
  });

  test('falls when whoever has its address is removed or leaves, and when they are given another role (I-33)', () => {
    const gone = decideRemoval(concerning(grace, ofGrace.email), asOwner, everybody, context);
    const left = decideRemoval(concerning(grace, ofGrace.email), { scopes: [], personId: grace.personId }, everybody, context);
    const changed = decideRoleChange(concerning(grace, ofGrace.email), 'finance', asOwner, everybody, context);
    const raised = decideMakeOwner(concerning(grace, ofGrace.email), everybody, context);
    for (const decision of [gone, left, changed, raised]) expect(revokedBy(decision)).toEqual([ofGrace.id]);
  });

  test('falls when whoever sent it is removed or leaves (I-33)', () => {
    expect(revokedBy(decideRemoval(concerning(admin, 'admin@example.com'), asOwner, everybody, context))).toEqual([byAdmin.id]);
    const leaving = { scopes: roleScopes.admin, personId: admin.personId };
    expect(revokedBy(decideRemoval(concerning(admin, 'admin@example.com'), leaving, everybody, context))).toEqual([byAdmin.id]);
  });

  test.each(['developer', 'finance', 'viewer'] as const)('falls when whoever sent it becomes %s, who invites nobody', (role) => {
    expect(revokedBy(decideRoleChange(concerning(admin, 'admin@example.com'), role, asOwner, everybody, context))).toEqual([byAdmin.id]);
  });

  test('stays when whoever sent it could still send it', () => {
    const two = [...everybody, member(5, 'owner')];
    expect(revokedBy(decideRoleChange(concerning(owner, 'owner@example.com'), 'admin', asOwner, two, context))).toEqual([]);
    expect(revokedBy(decideMakeOwner(concerning(admin, 'admin@example.com'), everybody, context))).toEqual([]);
    expect(revokedBy(decideRoleChange(concerning(grace, 'grace@example.org'), 'viewer', asOwner, everybody, context))).toEqual([]);
  });

  test('is good for nothing where its sender was removed or demoted before such links were revoked', () => {
    const person = { id: id(500), email: 'new@example.com', name: 'New' };
    for (const sender of [member(3, 'admin', now), member(3, 'finance')]) {
      const decision = decideAcceptance(byAdmin.id, person, { members: [owner, sender], invitations }, context);
      expect(decision).toMatchObject({ accepted: false, refusal: { code: 'invitation_invalid' } });
    }
    const ofKey = { ...person, email: 'bot@example.com' };
    expect(decideAcceptance(byKey.id, ofKey, { members: [owner], invitations }, context).accepted).toBe(true);
  });
});

describe('a new invitation', () => {
  const draft = (email: string, role: GivenRole = 'viewer') => ({ email, role, tokenHash: Buffer.alloc(32, 1) });

  test('takes the place of the one before to the same address, however that is written', () => {
    const decision = decideInvitation(draft('Other@EXAMPLE.com'), asOwner, { members: everybody, invitations }, null, context);
    expect(revokedBy(decision)).toEqual([ofOther.id]);
    expect(decision).toMatchObject({ accepted: true, result: { email: 'other@example.com', revokedAt: null } });
  });

  test('is refused where as many wait as may; one that replaces another is not, and what is over does not count', () => {
    const full = Array.from({ length: MAX_PENDING_INVITATIONS }, (_, n) => invitation(1000 + n, `p${n}@example.com`));
    const inFull = (email: string, waiting: readonly Invitation[]) =>
      decideInvitation(draft(email), asOwner, { members: everybody, invitations: [...waiting, ...overByAdmin] }, null, context);
    expect(inFull('one-more@example.com', full)).toMatchObject({ accepted: false, refusal: { code: 'too_many_members' } });
    expect(inFull('one-more@example.com', full.slice(1)).accepted).toBe(true);
    expect(revokedBy(inFull('p7@example.com', full))).toEqual([id(1007)]);
  });
});
