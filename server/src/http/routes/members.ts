// The routes of the members of a workspace and of the workspaces of a person. They turn a request into a command and decide nothing.

import { SESSION_ENDED } from '../../accounts/identity-refusals.ts';
import { changeRole, makeOwner, removeMember, type Target } from '../../commands/change-members.ts';
import { closeWorkspace } from '../../commands/close-workspace.ts';
import type { Closing } from '../../domain/closing.ts';
import type { Refusal } from '../../domain/errors.ts';
import { encodeId, type Uuid } from '../../domain/ids.ts';
import type { Member, MemberActor } from '../../domain/member.ts';
import { accountWorkspace, accountWorkspaceExample, presentMembership } from '../../schemas/account.ts';
import {
  memberExample,
  memberList,
  memberListQuery,
  memberResource,
  memberUpdate,
  memberUpdateExample,
  ownerCreation,
  presentMember,
  workspaceClose,
  workspaceClosed,
  workspaceClosedExample,
  workspaceCloseExample,
  workspaceCreate,
  workspaceCreateExample,
} from '../../schemas/members.ts';
import type { NoWorkspace } from '../../store/workspaces.ts';
import { ABSENT } from '../mount.ts';
import type { People } from '../people.ts';
import { listAnswer, listExample, pageOf } from '../reads.ts';
import { type Answer, type Caller, defineRoute, type Route, type RouteRequest } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { audited, submit, type Writes } from '../writes.ts';
import { sessionOf } from './account.ts';

export const actorOf = ({ scopes, session }: Caller): MemberActor => ({ scopes, personId: session?.person.id ?? null });

const serialize = serializerOf(memberResource);
const serializeClosing = serializerOf(workspaceClosed);

export function memberRoutes(people: People, writes: Writes): Route[] {
  const { lane, reads } = people;
  const ids = { id: 'member' } as const;

  /** The person's name and address stand in tables that the lane does not read; they are read before. */
  async function withMember(
    request: RouteRequest<unknown, unknown>,
    submitOne: (
      render: (member: Member) => { status: number; headers: Record<string, string>; body: string },
      target: Target,
    ) => Promise<Answer | typeof ABSENT>,
  ) {
    const found = await reads.getMember(request.caller.workspaceId, request.ids.id as Uuid);
    if (found === null) return ABSENT;
    return submitOne((member) => ({ status: 200, headers: {}, body: serialize(presentMember({ ...found, member })) }), found);
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/v1/members',
      operationId: 'listMembers',
      tag: 'Members',
      summary: 'List members',
      description: 'The people of the workspace, newest first.',
      scope: 'members:read',
      query: memberListQuery,
      success: { status: 200, description: 'A page of members.', schema: memberList, example: listExample(memberExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        return listAnswer('member', await reads.listMembers(caller.workspaceId, page), page, presentMember);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/members/:id',
      operationId: 'getMember',
      tag: 'Members',
      summary: 'Read a member',
      scope: 'members:read',
      ids,
      success: { status: 200, description: 'The member.', schema: memberResource, example: memberExample },
      errors: [],
      async handle({ caller, ids: { id } }) {
        const found = await reads.getMember(caller.workspaceId, id as Uuid);
        return found === null ? ABSENT : { body: presentMember(found) };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/members/:id',
      operationId: 'updateMember',
      tag: 'Members',
      summary: "Change a member's role",
      description:
        'Nobody gives a role that may do more than they may themselves. The role of an owner is changed by owners, and never that of the last.',
      scope: 'members:write',
      ids,
      body: memberUpdate,
      bodyExample: memberUpdateExample,
      success: { status: 200, description: 'The member, changed.', schema: memberResource, example: memberExample },
      errors: ['scope_escalation', 'last_owner'],
      idempotent: true,
      handle: (request) =>
        withMember(request, (render, target) =>
          submit(lane, changeRole(audited(writes, request, render), target, request.body.role, actorOf(request.caller))),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/members/:id/make_owner',
      operationId: 'makeOwner',
      tag: 'Members',
      summary: 'Make a member an owner',
      description: 'An owner can do everything, also close the workspace and remove other owners. Whoever asks stays an owner too.',
      scope: 'workspace:own',
      ids,
      body: ownerCreation,
      bodyExample: {},
      success: {
        status: 200,
        description: 'The member, now an owner.',
        schema: memberResource,
        example: { ...memberExample, role: 'owner' },
      },
      errors: [],
      idempotent: true,
      handle: (request) => withMember(request, (render, target) => submit(lane, makeOwner(audited(writes, request, render), target))),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/members/:id',
      operationId: 'removeMember',
      tag: 'Members',
      summary: 'Remove a member, or leave',
      description:
        'From this commit on no write of the person in this workspace commits, and within a second no read is answered. Everybody may remove themselves; removing somebody else takes the scope `members:write`, and `workspace:own` where it is an owner. The last owner stays.',
      scope: null,
      ids,
      success: { status: 204, description: 'Removed.' },
      errors: ['insufficient_scope', 'last_owner'],
      handle: (request) =>
        withMember(request, (_render, target) => {
          const gone = () => ({ status: 204, headers: {}, body: '' });
          return submit(lane, removeMember(audited(writes, request, gone), target, actorOf(request.caller)));
        }),
    }),
  ];
}

const noWorkspace: Readonly<Record<NoWorkspace, Refusal>> = {
  session_ended: SESSION_ENDED,
  owns_none: {
    code: 'workspace_creation_refused',
    detail: 'Workspaces of this server are created by those who own one; ask an owner to create it and to invite you.',
  },
  owns_too_many: { code: 'too_many_members', detail: 'A person creates workspaces within bounds; close or leave one first.' },
};

export function workspaceRoutes(people: People, writes: Writes): Route[] {
  const { lane, visitOf } = people;
  const closed = (closing: Closing) => ({
    status: 200,
    headers: {},
    body: serializeClosing({
      object: 'workspace_closing',
      id: encodeId('workspace', closing.workspaceId),
      name: closing.name,
      closed_at: closing.closedAt.toISOString(),
      revoked_api_keys: closing.revokedKeys,
      disabled_webhook_endpoints: closing.disabledEndpoints,
    }),
  });

  return [
    defineRoute({
      method: 'POST',
      path: '/v1/workspaces',
      operationId: 'createWorkspace',
      tag: 'Workspace',
      summary: 'Create a workspace',
      description:
        'Whoever creates it owns it. It shares nothing with the other workspaces of the server. Taken from those who own a workspace already, unless the server is configured otherwise (`WORKSPACE_CREATION`).',
      access: 'person',
      scope: null,
      body: workspaceCreate,
      bodyExample: workspaceCreateExample,
      success: {
        status: 201,
        description: 'The workspace, as one of the account.',
        schema: accountWorkspace,
        example: accountWorkspaceExample,
      },
      errors: ['too_many_members', 'workspace_creation_refused'],
      async handle({ caller, body, raw }) {
        const made = await people.createWorkspace(body.name, sessionOf(caller), visitOf(raw));
        people.forgetSessions();
        if (typeof made === 'string') return noWorkspace[made];
        return { headers: { location: '/v1/workspace' }, body: presentMembership(made) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/workspace/close',
      operationId: 'closeWorkspace',
      tag: 'Workspace',
      summary: 'Close the workspace',
      description:
        'Revokes its keys, disables its webhook endpoints and refuses every further write. Its members can go on reading; nothing is deleted. There is no way back.',
      scope: 'workspace:own',
      body: workspaceClose,
      bodyExample: workspaceCloseExample,
      success: { status: 200, description: 'What was ended.', schema: workspaceClosed, example: workspaceClosedExample },
      errors: [],
      idempotent: true,
      handle: (request) => submit(lane, closeWorkspace(audited(writes, request, closed), request.body.name)),
    }),
  ];
}
