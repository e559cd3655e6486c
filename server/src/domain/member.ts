// Members of a workspace: who may become one, who may change whose role, and that a workspace never loses its last owner.
// Pure. Every decision is handed all members as they stand under the lock.

import { type AuditDraft, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, reject, rejectMissing } from './decision.ts';
import type { Uuid } from './ids.ts';
import { type Invitation, revokeWith } from './invitation.ts';
import { type GivenRole, type Role, roleScopes } from './roles.ts';
import { covers, type Scope } from './scopes.ts';

export interface Member {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly personId: Uuid;
  readonly role: Role;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Set once the person was removed or left; the row stays, since the log speaks of it. */
  readonly removedAt: Date | null;
}

export const MAX_MEMBERS = 500;

/** Who asks: the scopes of the key or the role, and the person where there is one. */
export interface MemberActor {
  readonly scopes: readonly Scope[];
  readonly personId: Uuid | null;
}

/** The member whom a decision is about, and the invitations that wait, some of which may fall with it. */
export interface Concerned {
  readonly id: Uuid;
  /** Of the person; it never changes. */
  readonly email: string;
  readonly invitations: readonly Invitation[];
}

export const isPresent = (member: Member): boolean => member.removedAt === null;
const owners = (members: readonly Member[]): readonly Member[] => members.filter((member) => isPresent(member) && member.role === 'owner');

/** The first person of a server owns its default workspace; the second with the same token comes too late. */
export function decideFirstOwner(personId: Uuid, name: string, members: readonly Member[], context: Context): Decision<Member> {
  if (members.length > 0) return reject('sign_up_refused', 'The server has its first owner already; ask to be invited.');
  return join(personId, name, 'owner', members, context);
}

/** Makes a person a member, anew where they were one before. */
export function join(personId: Uuid, name: string, role: Role, members: readonly Member[], context: Context): Decision<Member> {
  const before = members.find((member) => member.personId === personId);
  if (before !== undefined && isPresent(before)) return reject('already_member', 'The person is a member of this workspace already.');
  if (members.filter(isPresent).length >= MAX_MEMBERS) return reject('too_many_members', `A workspace has at most ${MAX_MEMBERS} members.`);
  const member: Member = {
    id: before?.id ?? context.newId(),
    workspaceId: context.workspace.id,
    personId,
    role,
    createdAt: context.now,
    updatedAt: context.now,
    removedAt: null,
  };
  const audit = entry('member.added', member, changesBetween(null, { name, role }));
  return accept(member, { members: [member], audit: [audit] });
}

export function decideRoleChange(
  concerned: Concerned,
  role: GivenRole,
  actor: MemberActor,
  members: readonly Member[],
  context: Context,
): Decision<Member> {
  const member = presentMember(concerned.id, members);
  if (member === undefined) return rejectMissing();
  if (member.role === role) return accept(member);
  const refusal = refuseGiving(role, actor) ?? refuseTouching(member, actor, members);
  if (refusal !== null) return refusal;
  return change(member, role, concerned, context);
}

export function decideMakeOwner(concerned: Concerned, members: readonly Member[], context: Context): Decision<Member> {
  const member = presentMember(concerned.id, members);
  if (member === undefined) return rejectMissing();
  return member.role === 'owner' ? accept(member) : change(member, 'owner', concerned, context);
}

/** Anybody may leave; removing somebody else takes the scope, and an owner to remove an owner. */
export function decideRemoval(concerned: Concerned, actor: MemberActor, members: readonly Member[], context: Context): Decision<Member> {
  const member = presentMember(concerned.id, members);
  if (member === undefined) return rejectMissing();
  const leaves = member.personId === actor.personId;
  if (!leaves && !covers(actor.scopes, ['members:write'])) {
    return reject('insufficient_scope', 'Removing somebody else takes the scope members:write.');
  }
  const refusal = refuseTouching(member, leaves ? { ...actor, scopes: roleScopes.owner } : actor, members);
  if (refusal !== null) return refusal;
  const removed: Member = { ...member, removedAt: context.now, updatedAt: context.now };
  const { invitations, audit } = revokeWith({ ...concerned, personId: member.personId, role: null }, concerned.invitations, context);
  return accept(removed, {
    members: [removed],
    invitations,
    audit: [entry('member.removed', member, changesBetween({ role: member.role }, { role: null })), ...audit],
  });
}

/** Nobody gives what they do not have, or a narrow key could invite a wide role. */
export function refuseGiving(role: Role, actor: MemberActor): Decision<never> | null {
  return covers(actor.scopes, roleScopes[role])
    ? null
    : reject('scope_escalation', `The role ${role} may do more than whoever asks; ask somebody with at least that role.`);
}

function refuseTouching(member: Member, actor: MemberActor, members: readonly Member[]): Decision<never> | null {
  if (member.role !== 'owner') return null;
  if (!covers(actor.scopes, ['workspace:own']))
    return reject('insufficient_scope', 'Only owners change or remove an owner (scope workspace:own).');
  return owners(members).length > 1
    ? null
    : reject('last_owner', 'This is the last owner of the workspace; make somebody else an owner first.');
}

const presentMember = (id: Uuid, members: readonly Member[]): Member | undefined =>
  members.find((candidate) => candidate.id === id && isPresent(candidate));

function change(member: Member, role: Role, concerned: Concerned, context: Context): Decision<Member> {
  const changed: Member = { ...member, role, updatedAt: context.now };
  const entryOfChange = entry('member.role_changed', member, changesBetween({ role: member.role }, { role }));
  const { invitations, audit } = revokeWith({ ...concerned, personId: member.personId, role }, concerned.invitations, context);
  return accept(changed, { members: [changed], invitations, audit: [entryOfChange, ...audit] });
}

const entry = (action: AuditDraft['action'], member: Member, changes: AuditDraft['changes']): AuditDraft => ({
  action,
  target: { type: 'member', id: member.id },
  changes,
});
