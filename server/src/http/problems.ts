// Refusals as HTTP problems (RFC 9457): which status each code of the catalogue has, and the exact body and headers that say it.
// Decides nothing and sends nothing; every error of the service, whichever layer found it, is written by these functions.

import { type ErrorCode, errorCatalogue, type FieldError, type Refusal } from '../domain/errors.ts';
import type { Scope } from '../domain/scopes.ts';

export const problemStatus = {
  malformed_json: 400,
  malformed_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  api_key_revoked: 401,
  api_key_expired: 401,
  not_signed_in: 401,
  wrong_credentials: 401,
  insufficient_scope: 403,
  scope_escalation: 403,
  wrong_password: 403,
  wrong_code: 403,
  foreign_origin: 403,
  not_a_member: 403,
  sign_up_refused: 403,
  workspace_creation_refused: 403,
  workspace_required: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  invalid_transition: 409,
  not_editable: 409,
  project_archived: 409,
  endpoint_disabled: 409,
  email_taken: 409,
  already_member: 409,
  last_owner: 409,
  workspace_closed: 409,
  too_many_members: 409,
  invitation_invalid: 410,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  too_many_streams: 429,
  too_many_exports: 429,
  too_many_attempts: 429,
  too_many_mails: 429,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
} as const satisfies Record<ErrorCode, number>;

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** After an overload most of the waiting work is gone within a second. */
const OVERLOAD_RETRY_SECONDS = 1;

/** Codes for which a problem type is registered; all others have a page of their own. */
const registeredTypes: Partial<Record<ErrorCode, string>> = {
  rate_limited: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
};

export function problemType(code: ErrorCode): string {
  return registeredTypes[code] ?? `/docs/errors/${code}`;
}

/** The body of an error answer. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly FieldError[];
}

export function toProblem(refusal: Refusal, requestId: string): Problem {
  const { code, detail, errors } = refusal;
  const problem = {
    type: problemType(code),
    title: errorCatalogue[code].title,
    status: problemStatus[code],
    detail,
    code,
    request_id: requestId,
  };
  return errors === undefined ? problem : { ...problem, errors };
}

/** What an error's headers may have to name besides its code. */
export interface ProblemContext {
  readonly retryAfterSeconds?: number;
  /** The scope that the key lacks. */
  readonly scope?: Scope;
  /** The methods of the path, for 405. */
  readonly allow?: string;
}

/** The headers that the status asks for beyond those of every answer. */
export function problemHeaders(code: ErrorCode, context: ProblemContext = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  const status = problemStatus[code];
  if (status === 401 || code === 'insufficient_scope') headers['WWW-Authenticate'] = challenge(code, context.scope);
  if (status === 429 || status === 503) headers['Retry-After'] = String(context.retryAfterSeconds ?? OVERLOAD_RETRY_SECONDS);
  if (status === 405 && context.allow !== undefined) headers.Allow = context.allow;
  return headers;
}

/** RFC 6750 §3: no error attribute where no key was sent, `invalid_token` for a bad one, `insufficient_scope` with the scope. */
function challenge(code: ErrorCode, scope: Scope | undefined): string {
  const realm = 'Bearer realm="tranche"';
  if (code === 'missing_api_key' || code === 'not_signed_in' || code === 'wrong_credentials') return realm;
  if (code === 'insufficient_scope') return `${realm}, error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`;
  return `${realm}, error="invalid_token", error_description="${errorCatalogue[code].title}"`;
}
