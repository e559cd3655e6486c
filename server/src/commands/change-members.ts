// Changes of who is in a workspace and as what: roles, owners, removals, and the first owner of a server.
// Scopes: members:write, workspace:own for owners. Every one looks at all members, under the lock, so that the last owner stays.

import type { Context, Decision } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideFirstOwner, decideMakeOwner, decideRemoval, decideRoleChange, type Member, type MemberActor } from '../domain/member.ts';
import type { Person } from '../domain/person.ts';
import type { GivenRole } from '../domain/roles.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

type Decide = (members: readonly Member[], context: Context) => Decision<Member>;

const onMembers = (name: string, envelope: Envelope<Member>, decide: Decide): Command<Member> => ({
  ...envelope,
  ...SMALL,
  name,
  needs: { members: true },
  decide: (state, context) => decide(state.members(), context),
});

export const changeRole = (envelope: Envelope<Member>, id: Uuid, role: GivenRole, actor: MemberActor): Command<Member> =>
  onMembers('change-role', envelope, (members, context) => decideRoleChange(id, role, actor, members, context));

export const makeOwner = (envelope: Envelope<Member>, id: Uuid): Command<Member> =>
  onMembers('make-owner', envelope, (members, context) => decideMakeOwner(id, members, context));

export const removeMember = (envelope: Envelope<Member>, id: Uuid, actor: MemberActor): Command<Member> =>
  onMembers('remove-member', envelope, (members, context) => decideRemoval(id, actor, members, context));

export const claimServer = (envelope: Envelope<Member>, person: Pick<Person, 'id' | 'name'>): Command<Member> =>
  onMembers('claim-server', envelope, (members, context) => decideFirstOwner(person.id, person.name, members, context));
