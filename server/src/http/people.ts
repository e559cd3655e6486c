// What the routes of people, members and the audit log are handed by the composition root.
// Types only; the routes say what comes of a request, and this says nothing of how it is done.

import type { IncomingMessage } from 'node:http';
import type { Identity, Visit } from '../accounts/identity.ts';
import type { MailLimits } from '../accounts/mail-limits.ts';
import type { SignInLimits } from '../accounts/sign-in-limits.ts';
import type { Lane } from '../commands/lane.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Invitation } from '../domain/invitation.ts';
import type { Membership, Person, SessionCaller } from '../domain/person.ts';
import type { SessionRecord } from '../schemas/account.ts';
import type { MemberWithPerson } from '../schemas/members.ts';
import type { AuditEntryWithName, AuditFilters } from '../store/audit-entries.ts';
import type { ByIdReader } from '../store/by-id.ts';
import type { InvitationWithInviter } from '../store/invitations.ts';
import type { Page, PageRequest } from '../store/lists.ts';
import type { NoWorkspace } from '../store/workspaces.ts';

export interface PeopleReads {
  /** Whether nobody has signed up yet. */
  needsSetup(): Promise<boolean>;
  /** The workspace that the first person of the server owns. */
  defaultWorkspaceId(): Promise<Uuid>;
  workspaceName(id: Uuid): Promise<string>;
  findPerson(id: Uuid): Promise<Person | null>;
  findPersonByEmail(email: string): Promise<Person | null>;
  membershipsOf(personId: Uuid): Promise<Membership[]>;
  listSessions(personId: Uuid, page: PageRequest): Promise<Page<SessionRecord>>;
  readonly getMember: ByIdReader<MemberWithPerson>;
  listMembers(workspaceId: Uuid, page: PageRequest): Promise<Page<MemberWithPerson>>;
  readonly getInvitation: ByIdReader<InvitationWithInviter>;
  listInvitations(workspaceId: Uuid, page: PageRequest): Promise<Page<InvitationWithInviter>>;
  /** Whatever its state; with the name of its workspace. */
  findInvitationByToken(token: string): Promise<(InvitationWithInviter & { readonly workspaceName: string }) | null>;
  listAuditEntries(workspaceId: Uuid, filters: AuditFilters, page: PageRequest): Promise<Page<AuditEntryWithName>>;
}

export interface InvitationMailer {
  /** Begins to send and returns at once: whoever invited is not kept waiting, and a failure is in the log of the server. */
  invite(invitation: Invitation, link: string, workspaceName: string, inviter: string | null): void;
  /** Counts the mail to come; the refusal where it is one too many. */
  readonly limits: MailLimits;
}

export interface People {
  readonly lane: Lane;
  readonly identity: Identity;
  readonly limits: SignInLimits;
  readonly reads: PeopleReads;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  readonly visitOf: (request: IncomingMessage) => Visit;
  /** Whether a setup token is one that this server printed. Says nothing of whether setting up is still possible. */
  holdsSetupToken(token: string): Promise<boolean>;
  /** Forgets all setup tokens, once somebody has signed up. */
  endSetup(): Promise<void>;
  revokeSession(personId: Uuid, sessionId: Uuid): Promise<boolean>;
  readonly workspaceCreators: 'owners' | 'anyone';
  /** Makes a workspace with its first owner, or says why not. */
  createWorkspace(name: string, caller: SessionCaller, visit: Visit): Promise<Membership | NoWorkspace>;
  /** A fresh token of a link. */
  readonly makeToken: () => string;
  /** The address of the page that takes this token. */
  readonly invitationLink: (token: string, request: IncomingMessage) => string;
  /** Sends links by mail; null where no mail is configured, and then whoever invited passes them on. */
  readonly mailer: InvitationMailer | null;
  /** Forgets what is remembered of sessions, so that the next request of this process sees what was just changed. */
  readonly forgetSessions: () => void;
}
