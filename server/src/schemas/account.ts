// The account of a person on the wire: who is signed in, signing up and in, the second factor, the password, the sessions.
// Holds no secret but the ones that an answer shows once; decides nothing.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { MAX_PASSWORD_LENGTH, type Membership, MIN_PASSWORD_LENGTH, type Person } from '../domain/person.ts';
import { allRoles, roleScopes, roles } from '../domain/roles.ts';
import { scope } from './api-keys.ts';
import { listOf, listQuery } from './lists.ts';
import { exampleId, idField, name, text, timestamp, wanted } from './text.ts';

const MAX_EMAIL_LENGTH = 254;
const EMAIL = 'an email address such as ada@example.com';

export const email = text(MAX_EMAIL_LENGTH)
  // As identity judges them: one that it refuses could sign up and never in.
  .refine((value) => z.email().safeParse(value).success, { error: `Must be ${EMAIL}.`, abort: true })
  .meta({
    format: 'email',
    minLength: 3,
    maxLength: MAX_EMAIL_LENGTH,
    pattern: '^[^\\s@]+@[^\\s@.]+(\\.[^\\s@.]+)*$',
    description: 'In any case; kept and answered in lower case.',
  });

/** One that is only compared. */
const password = text(MAX_PASSWORD_LENGTH).meta({ format: 'password', description: 'The current password.' });

const newPassword = text(MAX_PASSWORD_LENGTH).meta({
  format: 'password',
  description: `From ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters, of any kind. Passwords that others would try first are refused.`,
});

/** A token of a link. Bounded, and otherwise of no form: a wrong one is simply not found. */
export const linkToken = text(200);

export const role = z.enum(allRoles, wanted(`one of ${allRoles.join(', ')}`)).meta({
  id: 'Role',
  description: `What a member may do.\n\n${Object.entries(roles)
    .map(([roleName, meaning]) => `- \`${roleName}\`: ${meaning}`)
    .join('\n')}`,
});

export const accountWorkspaceExample = {
  id: exampleId('workspace'),
  object: 'account_workspace' as const,
  name: 'Studio North',
  member_id: exampleId('member'),
  role: 'viewer' as const,
  scopes: [...roleScopes.viewer],
  closed_at: null,
};

export const accountWorkspace = z
  .object({
    id: idField('workspace'),
    object: z.literal('account_workspace'),
    name: z.string(),
    member_id: idField('member', 'The membership.'),
    role,
    scopes: z.array(scope).meta({ description: 'What the role may do.' }),
    closed_at: timestamp('When it was closed; null while it is open.').nullable(),
  })
  .meta({ id: 'AccountWorkspace', description: 'A workspace that a person is a member of.', example: accountWorkspaceExample });

export function presentMembership(membership: Membership): z.output<typeof accountWorkspace> {
  return {
    id: encodeId('workspace', membership.workspaceId),
    object: 'account_workspace',
    name: membership.workspaceName,
    member_id: encodeId('member', membership.memberId),
    role: membership.role,
    scopes: [...roleScopes[membership.role]],
    closed_at: membership.closedAt?.toISOString() ?? null,
  };
}

export const accountExample = {
  id: exampleId('person'),
  object: 'account' as const,
  email: 'ada@example.com',
  name: 'Ada Byron',
  totp_enabled: false,
  workspaces: [accountWorkspaceExample],
  may_create_workspaces: true,
  created_at: '2026-03-02T09:30:00.000Z',
};

export const accountResource = z
  .object({
    id: idField('person'),
    object: z.literal('account'),
    email: z.string(),
    name: z.string(),
    totp_enabled: z.boolean().meta({ description: 'Whether signing in asks for a code as well.' }),
    workspaces: z.array(accountWorkspace).meta({ description: 'The workspaces of the person, oldest first.' }),
    may_create_workspaces: z
      .boolean()
      .meta({ description: 'Whether the person may create workspaces here: by default those may who own one (`WORKSPACE_CREATION`).' }),
    created_at: timestamp('When the person signed up.'),
  })
  .meta({ id: 'Account', description: 'The person who is signed in.', example: accountExample });

/** `creators`: who may create workspaces on this server. */
export function presentAccount(
  person: Person,
  memberships: readonly Membership[],
  creators: 'owners' | 'anyone',
): z.output<typeof accountResource> {
  return {
    id: encodeId('person', person.id),
    object: 'account',
    email: person.email,
    name: person.name,
    totp_enabled: person.totpEnabled,
    workspaces: memberships.map(presentMembership),
    may_create_workspaces: creators === 'anyone' || memberships.some((membership) => membership.role === 'owner'),
    created_at: person.createdAt.toISOString(),
  };
}

export const accountUpdateExample = { name: 'Ada Lovelace' };
export const accountUpdate = z
  .strictObject({ name: name.optional().meta({ description: 'What others see.' }) })
  .meta({ id: 'AccountUpdate', description: 'What to change; fields left out stay.', example: accountUpdateExample });

export const signUpExample = {
  email: 'ada@example.com',
  password: 'correct horse battery',
  name: 'Ada Byron',
  setup_token: 'setup_EXAMPLEEXAMPLEEXAMPLEEXAMPLE0000',
};
export const signUp = z
  .strictObject({
    email,
    password: newPassword,
    name,
    setup_token: linkToken.optional().meta({ description: 'The token that the server prints until somebody has signed up.' }),
    invitation_token: linkToken.optional().meta({ description: 'The token of the link of an invitation.' }),
  })
  .refine((body) => (body.setup_token === undefined) !== (body.invitation_token === undefined), {
    error: 'Send setup_token or invitation_token, one of the two.',
    path: ['invitation_token'],
  })
  .meta({ id: 'SignUp', description: 'A new person, who holds a setup token or an invitation.', example: signUpExample });

export const signInExample = { email: 'ada@example.com', password: 'correct horse battery' };
export const signIn = z.strictObject({ email, password }).meta({ id: 'SignIn', description: 'Who signs in.', example: signInExample });

export const signInResultExample = { object: 'sign_in' as const, totp_required: false, account: accountExample };
export const signInResult = z
  .object({
    object: z.literal('sign_in'),
    totp_required: z.boolean().meta({
      description: 'Whether a code is asked for: then nobody is signed in until `POST /v1/account/sign_in/totp` is sent one.',
    }),
    account: accountResource.nullable().meta({ description: 'Who is signed in; null while a code is asked for.' }),
  })
  .meta({ id: 'SignInResult', description: 'What came of signing in.', example: signInResultExample });

const code = text(20).meta({ description: 'The six digits of the authenticator, or a backup code.' });
export const totpCodeExample = { code: '492039' };
export const totpCode = z
  .strictObject({ code })
  .meta({ id: 'TotpCode', description: 'A code of the second factor.', example: totpCodeExample });

export const passwordChangeExample = { current_password: 'correct horse battery', new_password: 'a staple for the next year' };
export const passwordChange = z
  .strictObject({ current_password: password, new_password: newPassword })
  .meta({ id: 'PasswordChange', description: 'The password and the one to replace it.', example: passwordChangeExample });

export const passwordProofExample = { password: 'correct horse battery' };
export const passwordProof = z
  .strictObject({ password })
  .meta({ id: 'PasswordProof', description: 'The password once more, before a step that matters.', example: passwordProofExample });

export const totpSetupExample = {
  object: 'totp_setup' as const,
  totp_uri: 'otpauth://totp/Tranche:ada%40example.com?secret=KRUGS4ZANFZSA5DI&issuer=Tranche&digits=6&period=30',
  secret: 'KRUGS4ZANFZSA5DI',
  backup_codes: ['k3Jd8-9sLq2', 'p0Wm5-Xc7Rt'],
};
export const totpSetup = z
  .object({
    object: z.literal('totp_setup'),
    totp_uri: z.string().meta({ description: 'For the QR code that authenticators read.' }),
    secret: z.string().meta({ description: 'The same secret in base32, to be typed in by hand.' }),
    backup_codes: z.array(z.string()).meta({ description: 'Each takes the place of a code once. They are shown this once.' }),
  })
  .meta({
    id: 'TotpSetup',
    description: 'What an authenticator needs. It counts from the first right code on.',
    example: totpSetupExample,
  });

export const setupStateExample = { object: 'setup' as const, needs_setup: false };
export const setupState = z
  .object({
    object: z.literal('setup'),
    needs_setup: z.boolean().meta({ description: 'Whether nobody has signed up yet: then the setup token makes the first owner.' }),
  })
  .meta({ id: 'SetupState', description: 'Whether the server waits for its first owner.', example: setupStateExample });

export const sessionExample = {
  id: exampleId('session'),
  object: 'session' as const,
  current: true,
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  last_used_at: '2026-03-21T08:00:00.000Z',
  expires_at: '2026-04-01T09:30:00.000Z',
  created_at: '2026-03-02T09:30:00.000Z',
};
export const sessionResource = z
  .object({
    id: idField('session'),
    object: z.literal('session'),
    current: z.boolean().meta({ description: 'Whether it is the one that this request came with.' }),
    ip: z.string().nullable().meta({ description: 'The address that signed in.' }),
    user_agent: z.string().nullable().meta({ description: 'What signed in, as it called itself.' }),
    last_used_at: timestamp('When it was last used, to the minute or so.'),
    expires_at: timestamp('When it ends at the latest.'),
    created_at: timestamp('When it began.'),
  })
  .meta({ id: 'Session', description: 'A place where somebody is signed in.', example: sessionExample });

export interface SessionRecord {
  readonly id: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

export function presentSession(session: SessionRecord, currentId: string): z.output<typeof sessionResource> {
  return {
    id: encodeId('session', session.id),
    object: 'session',
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    created_at: session.createdAt.toISOString(),
  };
}

export const sessionList = listOf('SessionList', sessionResource, sessionExample);
export const sessionListQuery = listQuery('session', {});
