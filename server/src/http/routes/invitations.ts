// The routes of invitations. A token is made here and leaves in a link; only its hash goes on.
// They turn a request into a command and decide nothing.

import { acceptInvitation, createInvitation, revokeInvitation } from '../../commands/change-invitations.ts';
import type { Refusal } from '../../domain/errors.ts';
import { encodeId, type Uuid } from '../../domain/ids.ts';
import { type Invitation, statusOf } from '../../domain/invitation.ts';
import { hashToken } from '../../domain/link-token.ts';
import type { Member } from '../../domain/member.ts';
import { foldEmail } from '../../domain/person.ts';
import { accountExample, accountResource, presentAccount } from '../../schemas/account.ts';
import {
  invitationCreate,
  invitationCreateExample,
  invitationExample,
  invitationList,
  invitationListQuery,
  invitationPreview,
  invitationPreviewExample,
  invitationResource,
  invitationToken,
  invitationTokenExample,
  invitationWithLink,
  invitationWithLinkExample,
  presentInvitation,
} from '../../schemas/members.ts';
import { ABSENT } from '../mount.ts';
import type { People } from '../people.ts';
import { listAnswer, listExample, pageOf } from '../reads.ts';
import { defineRoute, type Route, type RouteRequest } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { personEnvelope } from '../sign-up.ts';
import { audited, submit, type Writes } from '../writes.ts';
import { sessionOf } from './account.ts';
import { actorOf } from './members.ts';

const TAG = 'Invitations';
const serialize = serializerOf(invitationResource);
const serializeWithLink = serializerOf(invitationWithLink);
const INVALID = { code: 'invitation_invalid', detail: 'The invitation is unknown, was used, was revoked or has expired.' } as const;

export function invitationRoutes(people: People, writes: Writes): Route[] {
  const { lane, reads, clock, limits, visitOf } = people;
  const ids = { id: 'invitation' } as const;

  /** The keys of a workspace count as one. A repetition is answered from what is kept, and mails nothing. */
  async function countMail({ caller, idempotency }: RouteRequest<unknown, unknown>, to: string): Promise<Refusal | null> {
    const { workspaceId, session } = caller;
    if (people.mailer === null || (idempotency !== null && (await writes.hasAnswer(workspaceId, idempotency.key)))) return null;
    return people.mailer.limits.count({ to, inviter: session?.person.id ?? workspaceId });
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/v1/invitations',
      operationId: 'listInvitations',
      tag: TAG,
      summary: 'List invitations',
      description: 'Newest first, used, revoked and expired ones included. Their links cannot be read again.',
      scope: 'members:read',
      query: invitationListQuery,
      success: { status: 200, description: 'A page of invitations.', schema: invitationList, example: listExample(invitationExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const found = await reads.listInvitations(caller.workspaceId, page);
        const now = clock();
        return listAnswer('invitation', found, page, ({ invitation, inviterName }) =>
          presentInvitation(invitation, statusOf(invitation, now), inviterName),
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/invitations/:id',
      operationId: 'getInvitation',
      tag: TAG,
      summary: 'Read an invitation',
      scope: 'members:read',
      ids,
      success: { status: 200, description: 'The invitation, without its link.', schema: invitationResource, example: invitationExample },
      errors: [],
      async handle({ caller, ids: { id } }) {
        const found = await reads.getInvitation(caller.workspaceId, id as Uuid);
        if (found === null) return ABSENT;
        return { body: presentInvitation(found.invitation, statusOf(found.invitation, clock()), found.inviterName) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/invitations',
      operationId: 'createInvitation',
      tag: TAG,
      summary: 'Invite somebody',
      description:
        'The link is mailed where the server can send mail, and otherwise in the answer, this once, for whoever invites to pass it on. It is for this address alone, is good once, and ends after seven days. One to the same address that still waits is revoked. Nobody invites to a role that may do more than they may themselves.',
      scope: 'members:write',
      body: invitationCreate,
      bodyExample: invitationCreateExample,
      success: {
        status: 201,
        description: 'The invitation, with its link where it is not mailed.',
        schema: invitationWithLink,
        example: invitationWithLinkExample,
      },
      errors: ['scope_escalation', 'already_member', 'too_many_members', 'too_many_mails'],
      idempotent: true,
      async handle(request) {
        const { caller, body, raw } = request;
        const token = people.makeToken();
        const link = people.invitationLink(token, raw);
        const inviter = caller.session?.person.name ?? null;
        const mails = people.mailer !== null;
        const made: { invitation: Invitation | null } = { invitation: null };
        const created = (invitation: Invitation) => {
          made.invitation = invitation;
          return {
            status: 201,
            headers: { location: `/v1/invitations/${encodeId('invitation', invitation.id)}` },
            body: serializeWithLink({ ...presentInvitation(invitation, 'pending', inviter), mailed: mails, link: mails ? null : link }),
          };
        };
        const draft = { email: foldEmail(body.email), role: body.role, tokenHash: hashToken(token) };
        const tooMany = await countMail(request, draft.email);
        if (tooMany !== null) return tooMany;
        const invitee = await reads.findPersonByEmail(draft.email);
        const answer = await submit(lane, createInvitation(audited(writes, request, created), draft, actorOf(caller), invitee));
        // After the commit, and only by the request that made it: a repetition sends no second mail.
        if (people.mailer !== null && !('code' in answer) && made.invitation !== null)
          people.mailer.invite(made.invitation, link, await reads.workspaceName(caller.workspaceId), inviter);
        return answer;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/invitations/:id',
      operationId: 'revokeInvitation',
      tag: TAG,
      summary: 'Revoke an invitation',
      description: 'Its link is worth nothing from here on. The invitation stays listed. Revoking it again changes nothing.',
      scope: 'members:write',
      ids,
      success: {
        status: 200,
        description: 'The invitation, revoked.',
        schema: invitationResource,
        example: { ...invitationExample, status: 'revoked' },
      },
      errors: ['invalid_transition'],
      async handle(request) {
        const found = await reads.getInvitation(request.caller.workspaceId, request.ids.id as Uuid);
        if (found === null) return ABSENT;
        const revoked = (invitation: Invitation) => ({
          status: 200,
          headers: {},
          body: serialize(presentInvitation(invitation, 'revoked', found.inviterName)),
        });
        return submit(lane, revokeInvitation(audited(writes, request, revoked), request.ids.id as Uuid));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/invitations/lookup',
      operationId: 'lookUpInvitation',
      tag: TAG,
      summary: 'Look an invitation up by its link',
      description: 'Who invites to what, for whoever holds the link, before they sign up or in. Changes nothing.',
      access: 'anyone',
      scope: null,
      body: invitationToken,
      bodyExample: invitationTokenExample,
      success: { status: 200, description: 'The invitation.', schema: invitationPreview, example: invitationPreviewExample },
      errors: ['invitation_invalid', 'too_many_attempts'],
      async handle({ body, raw }) {
        const refusal = await limits.count(visitOf(raw).origin.ip);
        if (refusal !== null) return refusal;
        const found = await reads.findInvitationByToken(body.token);
        if (found === null || statusOf(found.invitation, clock()) !== 'pending') return INVALID;
        const { invitation, workspaceName, inviterName } = found;
        const invitee = await reads.findPersonByEmail(invitation.email);
        return {
          body: {
            object: 'invitation_preview',
            email: invitation.email,
            role: invitation.role,
            workspace_name: workspaceName,
            invited_by: inviterName,
            has_account: invitee !== null,
            expires_at: invitation.expiresAt.toISOString(),
          },
        };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/invitations/accept',
      operationId: 'acceptInvitation',
      tag: TAG,
      summary: 'Accept an invitation',
      description: 'For somebody who has an account and is signed in with the address of the invitation. Others sign up with it.',
      access: 'person',
      scope: null,
      body: invitationToken,
      bodyExample: invitationTokenExample,
      success: { status: 200, description: 'The account, with the new workspace.', schema: accountResource, example: accountExample },
      errors: ['invitation_invalid', 'already_member', 'too_many_members', 'workspace_closed'],
      async handle({ caller, body, raw }) {
        const session = sessionOf(caller);
        const { person } = session;
        const found = await reads.findInvitationByToken(body.token);
        if (found === null) return INVALID;
        const accepted = (_member: Member) => ({ status: 200, headers: {}, body: '' });
        const { invitation } = found;
        const envelope = personEnvelope(invitation.workspaceId, session, visitOf(raw).origin, accepted);
        const answer = await submit(lane, acceptInvitation(envelope, invitation.id, person));
        if ('code' in answer) return answer;
        people.forgetSessions();
        return { body: presentAccount(person, await reads.membershipsOf(person.id), people.workspaceCreators) };
      },
    }),
  ];
}
