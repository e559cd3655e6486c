// Members and invitations of a workspace on the wire, and the workspace as its creation and closing answer it.
// A token of an invitation is in the answer to its creation at most; decides nothing.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import type { Invitation, InvitationStatus } from '../domain/invitation.ts';
import type { Member } from '../domain/member.ts';
import { givenRoles } from '../domain/roles.ts';
import { email, linkToken, role } from './account.ts';
import { listOf, listQuery } from './lists.ts';
import { countField, exampleId, idField, name, orEmpty, timestamp, wanted } from './text.ts';

const givenRole = z
  .enum(givenRoles, wanted(`one of ${givenRoles.join(', ')}`))
  .meta({ id: 'GivenRole', description: 'A role that can be given to somebody. Owners are made by `POST /v1/members/{id}/make_owner`.' });

export const memberExample = {
  id: exampleId('member', 2),
  object: 'member' as const,
  person_id: exampleId('person', 2),
  name: 'Grace Hopper',
  email: 'grace@example.com',
  role: 'developer' as const,
  totp_enabled: true,
  created_at: '2026-03-02T09:30:00.000Z',
};

export const memberResource = z
  .object({
    id: idField('member'),
    object: z.literal('member'),
    person_id: idField('person'),
    name: z.string(),
    email: z.string(),
    role,
    totp_enabled: z.boolean().meta({ description: 'Whether the person has a second factor.' }),
    created_at: timestamp('When the person became a member.'),
  })
  .meta({ id: 'Member', description: 'A person in a workspace.', example: memberExample });

/** A member with what is known of the person. */
export interface MemberWithPerson {
  readonly id: string;
  readonly member: Member;
  readonly name: string;
  readonly email: string;
  readonly totpEnabled: boolean;
}

export function presentMember({
  member,
  name: personName,
  email: address,
  totpEnabled,
}: MemberWithPerson): z.output<typeof memberResource> {
  return {
    id: encodeId('member', member.id),
    object: 'member',
    person_id: encodeId('person', member.personId),
    name: personName,
    email: address,
    role: member.role,
    totp_enabled: totpEnabled,
    created_at: member.createdAt.toISOString(),
  };
}

export const memberList = listOf('MemberList', memberResource, memberExample);
export const memberListQuery = listQuery('member', {});

export const memberUpdateExample = { role: 'finance' };
export const memberUpdate = z.strictObject({ role: givenRole }).meta({
  id: 'MemberUpdate',
  description: 'The role to give. An owner who is given another stops being one.',
  example: memberUpdateExample,
});

export const ownerCreation = orEmpty(
  z.strictObject({}).meta({ id: 'OwnerCreation', description: 'Nothing has to be said; may be left out.', example: {} }),
);

export const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const satisfies readonly InvitationStatus[];

export const invitationExample = {
  id: exampleId('invitation'),
  object: 'invitation' as const,
  email: 'grace@example.com',
  role: 'developer' as const,
  status: 'pending' as const,
  invited_by: 'Ada Byron',
  expires_at: '2026-03-09T09:30:00.000Z',
  created_at: '2026-03-02T09:30:00.000Z',
};

const invitationFields = {
  id: idField('invitation'),
  object: z.literal('invitation'),
  email: z.string(),
  role,
  status: z.enum(invitationStatuses).meta({ id: 'InvitationStatus', description: 'Only a pending invitation can be accepted.' }),
  invited_by: z.string().nullable().meta({ description: 'Who invited; null where a key did.' }),
  expires_at: timestamp('When it ends.'),
  created_at: timestamp('When it was made.'),
};

export const invitationResource = z
  .object(invitationFields)
  .meta({ id: 'Invitation', description: 'An invitation to a workspace.', example: invitationExample });

export const invitationWithLinkExample = {
  ...invitationExample,
  mailed: false,
  link: 'https://tranche.example.com/accept-invitation#token=inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLE00',
};
export const invitationWithLink = z
  .object({
    ...invitationFields,
    mailed: z.boolean().meta({ description: 'Whether the link is being mailed.' }),
    link: z
      .string()
      .nullable()
      .meta({ description: 'The link to pass on, where it is not mailed. It is shown this once; whoever has it can use it.' }),
  })
  .meta({ id: 'InvitationWithLink', description: 'A new invitation.', example: invitationWithLinkExample });

export function presentInvitation(
  invitation: Invitation,
  status: InvitationStatus,
  invitedBy: string | null,
): z.output<typeof invitationResource> {
  return {
    id: encodeId('invitation', invitation.id),
    object: 'invitation',
    email: invitation.email,
    role: invitation.role,
    status,
    invited_by: invitedBy,
    expires_at: invitation.expiresAt.toISOString(),
    created_at: invitation.createdAt.toISOString(),
  };
}

export const invitationList = listOf('InvitationList', invitationResource, invitationExample);
export const invitationListQuery = listQuery('invitation', {});

export const invitationCreateExample = { email: 'grace@example.com', role: 'developer' };
export const invitationCreate = z
  .strictObject({ email, role: givenRole })
  .meta({ id: 'InvitationCreate', description: 'Whom to invite, and as what.', example: invitationCreateExample });

export const invitationTokenExample = { token: 'inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLE00' };
export const invitationToken = z
  .strictObject({ token: linkToken })
  .meta({ id: 'InvitationToken', description: 'The token of the link of an invitation.', example: invitationTokenExample });

export const invitationPreviewExample = {
  object: 'invitation_preview' as const,
  email: 'grace@example.com',
  role: 'developer' as const,
  workspace_name: 'Studio North',
  invited_by: 'Ada Byron',
  has_account: false,
  expires_at: '2026-03-09T09:30:00.000Z',
};
export const invitationPreview = z
  .object({
    object: z.literal('invitation_preview'),
    email: z.string(),
    role,
    workspace_name: z.string(),
    invited_by: z.string().nullable(),
    has_account: z.boolean().meta({ description: 'Whether the address has an account: then sign in and accept, else sign up.' }),
    expires_at: timestamp('When it ends.'),
  })
  .meta({ id: 'InvitationPreview', description: 'Who invites to what, for whoever holds the link.', example: invitationPreviewExample });

export const workspaceCreateExample = { name: 'Studio South' };
export const workspaceCreate = z
  .strictObject({ name: name.meta({ description: 'What people call it.' }) })
  .meta({ id: 'WorkspaceCreate', description: 'A new workspace.', example: workspaceCreateExample });

export const workspaceCloseExample = { name: 'Studio North' };
export const workspaceClose = z
  .strictObject({ name: name.meta({ description: 'The name of the workspace, so that none is closed by accident.' }) })
  .meta({ id: 'WorkspaceClose', description: 'Which workspace is meant.', example: workspaceCloseExample });

export const workspaceClosedExample = {
  object: 'workspace_closing' as const,
  id: exampleId('workspace'),
  name: 'Studio North',
  closed_at: '2026-03-21T08:00:00.000Z',
  revoked_api_keys: 3,
  disabled_webhook_endpoints: 1,
};
export const workspaceClosed = z
  .object({
    object: z.literal('workspace_closing'),
    id: idField('workspace'),
    name: z.string(),
    closed_at: timestamp('When it was closed.'),
    revoked_api_keys: countField('The keys that were revoked with it.'),
    disabled_webhook_endpoints: countField('The webhook endpoints that were disabled with it.'),
  })
  .meta({ id: 'WorkspaceClosing', description: 'What closing a workspace ended.', example: workspaceClosedExample });
