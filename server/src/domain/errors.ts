// The catalogue of errors: every code a client can meet, what it means and what to do about it.
// Data only. HTTP status numbers live in http/problems.ts; the reference page and the OpenAPI document are made from both.

import type { Scope } from './scopes.ts';

export interface ErrorEntry {
  /** A short sentence that is the same at every occurrence. */
  readonly title: string;
  /** When it happens. */
  readonly meaning: string;
  /** What the reader can do. */
  readonly fix: string;
}

export const errorCatalogue = {
  malformed_json: {
    title: 'The body is not valid JSON',
    meaning:
      'The request body could not be parsed as JSON in UTF-8, or it could be read in two ways: a key that is there twice, a number that loses digits, a key such as __proto__.',
    fix: 'Send one JSON object, encoded as UTF-8. The detail says where parsing stopped.',
  },
  malformed_request: {
    title: 'The request is not valid HTTP',
    meaning: 'The server could not read the request line, the headers or the URL.',
    fix: 'Check the URL encoding and the headers. Most clients never send such a request; look for a proxy in between.',
  },
  request_timeout: {
    title: 'The request took too long to arrive',
    meaning: 'The headers or the body were not complete within the time the server waits for them.',
    fix: 'Send the whole request without pauses; check the network in between.',
  },
  headers_too_large: {
    title: 'The request headers are too large',
    meaning: 'All headers together exceed what the server reads.',
    fix: 'Send fewer or shorter headers; a program that has an API key needs no cookies.',
  },
  missing_api_key: {
    title: 'No API key was sent',
    meaning: 'The Authorization header is missing or is not of the form "Bearer <API_KEY>".',
    fix: 'Send the header "Authorization: Bearer tr_live_…".',
  },
  invalid_api_key: {
    title: 'The API key is not known',
    meaning: 'No key with this secret exists here: it may be mistyped, cut short or of another server.',
    fix: 'Compare the key with the one you were shown. A key is shown once; create a new one when it is lost.',
  },
  api_key_revoked: {
    title: 'The API key was revoked',
    meaning: 'The key existed and was revoked. Nothing can be done with it any more.',
    fix: 'Create a new key and replace this one.',
  },
  api_key_expired: {
    title: 'The API key has expired',
    meaning: 'The expiry of the key, or the overlap after its rotation, is over.',
    fix: 'Use the key that replaced it, or create a new one.',
  },
  insufficient_scope: {
    title: 'The API key lacks a scope',
    meaning: 'The key is valid but may not do this. The detail names the scope that is missing.',
    fix: 'Use a key with that scope, or create one.',
  },
  scope_escalation: {
    title: 'A key cannot give more than it has',
    meaning: 'The call would hand out a key with scopes that the calling key itself does not hold.',
    fix: 'Ask for scopes that the calling key has, or use a key with more scopes.',
  },
  not_signed_in: {
    title: 'Nobody is signed in',
    meaning: 'The request carries no session, or one that has ended: by signing out, by being revoked, or by its age.',
    fix: 'Sign in again. A program uses an API key instead.',
  },
  wrong_credentials: {
    title: 'The email address or the password is wrong',
    meaning: 'No account has this address and password together. Which of the two is wrong is not told.',
    fix: 'Check both. Whoever has lost the password asks an owner of the server to reset it.',
  },
  wrong_password: {
    title: 'The password is wrong',
    meaning: 'The step asks for the current password of whoever is signed in, and this is another.',
    fix: 'Send the current password.',
  },
  wrong_code: {
    title: 'The code is wrong',
    meaning: 'The code of the second factor does not fit, was used before, or the sign-in that it belongs to is over.',
    fix: 'Wait for the next code of the authenticator, or use a backup code that was not used yet; after ten minutes begin to sign in anew.',
  },
  too_many_attempts: {
    title: 'Too many attempts',
    meaning: 'Too many attempts to sign in came from this address or for this account.',
    fix: 'Wait as many seconds as Retry-After says. Sessions that exist go on.',
  },
  too_many_mails: {
    title: 'Too many invitations were mailed',
    meaning: 'As many invitations as may be were mailed to this address, or by whoever invites, within the hour. Nothing was changed.',
    fix: 'Wait as many seconds as Retry-After says, then invite again.',
  },
  workspace_creation_refused: {
    title: 'Only owners create workspaces here',
    meaning: 'On this server a workspace is created by somebody who owns one already (WORKSPACE_CREATION=owners).',
    fix: 'Ask an owner to create it and to invite you, or the operator to set WORKSPACE_CREATION=anyone.',
  },
  foreign_origin: {
    title: 'The request comes from another site',
    meaning: 'A request with a session came from a page of another origin, or a write with a session did not say where it comes from.',
    fix: 'Call from the page that this server serves, or use an API key. Behind a proxy, set PUBLIC_URL to the address that browsers see.',
  },
  workspace_required: {
    title: 'Which workspace is meant is not said',
    meaning: 'A session belongs to a person, and this one is a member of several workspaces, or of none.',
    fix: 'Send the header Tranche-Workspace with the id of one of the workspaces of GET /v1/account.',
  },
  not_a_member: {
    title: 'No member of this workspace',
    meaning: 'The person who is signed in is not a member of the workspace in Tranche-Workspace, or there is no such workspace.',
    fix: 'Send the id of one of the workspaces of GET /v1/account, or ask to be invited.',
  },
  sign_up_refused: {
    title: 'Signing up needs a setup token or an invitation',
    meaning: 'The setup token is not the current one, or the server has an owner already.',
    fix: 'The first person uses the token that the server prints at its start; everybody else is invited.',
  },
  invitation_invalid: {
    title: 'The invitation does not hold',
    meaning: 'The invitation is unknown, was used, was revoked or has expired, or it is for another email address.',
    fix: 'Ask for a new invitation, and sign up or sign in with the address it was made for.',
  },
  email_taken: {
    title: 'The email address has an account',
    meaning: 'Somebody has signed up with this address already.',
    fix: 'Sign in with it, then accept the invitation.',
  },
  already_member: {
    title: 'Already a member',
    meaning: 'The person is a member of the workspace already.',
    fix: 'Change the role of the member instead.',
  },
  last_owner: {
    title: 'A workspace keeps an owner',
    meaning: 'The last owner of a workspace can neither leave nor become anything else.',
    fix: 'Make another member an owner first, or close the workspace.',
  },
  workspace_closed: {
    title: 'The workspace is closed',
    meaning: 'An owner has closed the workspace: its members can read it, and nothing in it changes any more.',
    fix: 'Work in another workspace.',
  },
  too_many_members: {
    title: 'The workspace is full',
    meaning: 'The workspace, or the person, has as many memberships or open invitations as one may have.',
    fix: 'Remove members or revoke invitations that are not needed any more.',
  },
  not_found: {
    title: 'There is no such resource',
    meaning: 'The path or the id does not exist in the workspace of your key. Ids of other workspaces and of other kinds answer the same.',
    fix: 'Check the id, its prefix, and that the key belongs to the right workspace.',
  },
  method_not_allowed: {
    title: 'This path does not support the method',
    meaning: 'The path exists, but not with this HTTP method. The Allow header lists those it has.',
    fix: 'Use one of the methods in the Allow header.',
  },
  invalid_transition: {
    title: 'The status cannot change that way',
    meaning: 'The resource is in a status from which the requested one cannot be reached. The detail names the allowed ones.',
    fix: 'Read the resource, then make one of the moves in its allowed_transitions.',
  },
  not_editable: {
    title: 'The field cannot change any more',
    meaning: 'A milestone keeps its amount once submitted, and everything once approved or cancelled.',
    fix: 'Request changes or withdraw the submission first, or create a new milestone.',
  },
  project_archived: {
    title: 'The project is archived',
    meaning:
      'An archived project takes no new milestones, and those it has cannot be moved or edited. Payments already approved can still be released.',
    fix: "Set the project's status to active first.",
  },
  endpoint_disabled: {
    title: 'The webhook endpoint takes nothing',
    meaning: 'The endpoint was disabled or deleted, so nothing can be sent to it again.',
    fix: 'Set the status of the endpoint to enabled first. One that was deleted does not come back; create another.',
  },
  precondition_failed: {
    title: 'The resource has changed since you read it',
    meaning: 'The version in If-Match is not the current one. Nothing was changed.',
    fix: 'Read the resource again, decide anew, and send its current ETag.',
  },
  body_too_large: {
    title: 'The body is too large',
    meaning: 'The request body exceeds 1 MiB.',
    fix: 'Send less at once; a project takes up to 100 milestones inline, the others can follow.',
  },
  unsupported_media_type: {
    title: 'The body is not declared as JSON',
    meaning: 'The Content-Type is not application/json, or the body is compressed.',
    fix: 'Send the header "Content-Type: application/json" and an uncompressed body.',
  },
  validation_failed: {
    title: 'The request is not valid',
    meaning:
      'A field, a query parameter or a header is missing, unknown or out of bounds. The errors list names each with what would be right.',
    fix: 'Correct every entry in errors; nothing was changed.',
  },
  idempotency_key_reused: {
    title: 'The idempotency key was used for another request',
    meaning: 'This Idempotency-Key already stands for a request with another method, path or body.',
    fix: 'Use a new key for a new request; repeat a request unchanged.',
  },
  rate_limited: {
    title: 'Too many requests',
    meaning: 'The key has used up its requests of this minute.',
    fix: 'Wait as many seconds as Retry-After says, then go on.',
  },
  too_many_streams: {
    title: 'Too many event streams are open',
    meaning: 'The key has as many event streams open on this server as one key may have.',
    fix: 'Close a stream, or share one: it carries every kind of event unless it is asked for fewer.',
  },
  too_many_exports: {
    title: 'Too many exports are under way',
    meaning: 'As many files as one workspace, or the server, may have written at once are being written.',
    fix: 'Wait until one has ended, then ask again.',
  },
  overloaded: {
    title: 'The server is busy',
    meaning:
      'More work is waiting than the server takes on, or the database is out of reach. Nothing was changed, or the outcome is unknown as the detail says.',
    fix: 'Repeat the request after Retry-After, with the same Idempotency-Key.',
  },
  internal_error: {
    title: 'Something went wrong on our side',
    meaning: "A defect. The request id leads to the details in the server's log.",
    fix: 'Repeat the request with the same Idempotency-Key; when it fails again, report the request id.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One field that is wrong: where it is (a JSON pointer, or `query`/`header` and the name), a stable code, and what would be right. */
export interface FieldError {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** An expected refusal. It is returned, never thrown. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** The scope that the key lacks, with `insufficient_scope`. */
  readonly scope?: Scope;
  /** When another attempt makes sense, where something was tried too often. */
  readonly retryAfterSeconds?: number;
}
