// Changes of who is in a workspace and as what: roles, owners, removals, and the first owner of a server.
// Scopes: members:write, workspace:own for owners. Every one looks at all members, under the lock, so that the last owner stays.

import type { Context, Decision } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import {
  type Concerned,
  decideFirstOwner,
  decideMakeOwner,
  decideRemoval,
  decideRoleChange,
  type Member,
  type MemberActor,
} from '../domain/member.ts';
import type { Person } from '../domain/person.ts';
import type { GivenRole } from '../domain/roles.ts';
import { type Command, type Envelope, REVOKING, SMALL } from './command.ts';

/** Whose membership changes: the address was read with the member before, since it never changes. */
export interface Target {
  readonly id: Uuid;
  readonly email: string;
}

type Decide = (concerned: Concerned, members: readonly Member[], context: Context) => Decision<Member>;

/** With the change fall invitations that it makes wrong, in the same commit. */
const onMember = (name: string, envelope: Envelope<Member>, target: Target, decide: Decide): Command<Member> => ({
  ...envelope,
  ...REVOKING,
  name,
  needs: { members: true, pendingInvitations: true },
  decide: (state, context) => decide({ ...target, invitations: state.pendingInvitations() }, state.members(), context),
});

export const changeRole = (envelope: Envelope<Member>, target: Target, role: GivenRole, actor: MemberActor): Command<Member> =>
  onMember('change-role', envelope, target, (concerned, members, context) => decideRoleChange(concerned, role, actor, members, context));

export const makeOwner = (envelope: Envelope<Member>, target: Target): Command<Member> =>
  onMember('make-owner', envelope, target, decideMakeOwner);

export const removeMember = (envelope: Envelope<Member>, target: Target, actor: MemberActor): Command<Member> =>
  onMember('remove-member', envelope, target, (concerned, members, context) => decideRemoval(concerned, actor, members, context));

export const claimServer = (envelope: Envelope<Member>, person: Pick<Person, 'id' | 'name'>): Command<Member> => ({
  ...envelope,
  ...SMALL,
  name: 'claim-server',
  needs: { members: true },
  decide: (state, context) => decideFirstOwner(person.id, person.name, state.members(), context),
});
