// The errors of each operation for the OpenAPI document: those its route declares and those that every route of its shape can answer.
// Pure. One component per set of codes, with an example for each code, so that no operation repeats what another says.

import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { type ErrorCode, errorCatalogue, type FieldError } from '../domain/errors.ts';
import { problem } from '../schemas/problem.ts';
import { PROBLEM_CONTENT_TYPE, problemStatus, toProblem } from './problems.ts';
import type { Access, Route } from './route.ts';

/** What is asked of who calls, before anything else. */
const accessErrors: Readonly<Record<Access, readonly ErrorCode[]>> = {
  workspace: [
    'missing_api_key',
    'invalid_api_key',
    'api_key_revoked',
    'api_key_expired',
    'not_signed_in',
    'foreign_origin',
    'workspace_required',
    'not_a_member',
    'rate_limited',
  ],
  person: ['not_signed_in', 'foreign_origin', 'rate_limited'],
  anyone: ['foreign_origin'],
};

/** What a request can meet before and around its handler. */
export function impliedErrors(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [
    'malformed_request',
    'validation_failed',
    'internal_error',
    'overloaded',
    ...accessErrors[route.access ?? 'workspace'],
  ];
  if (route.scope !== null) codes.push('insufficient_scope');
  if (route.method !== 'GET' && (route.access ?? 'workspace') === 'workspace') codes.push('insufficient_scope', 'workspace_closed');
  if (Object.keys(route.ids ?? {}).length > 0) codes.push('not_found');
  if (route.method === 'POST' || route.method === 'PATCH') codes.push('malformed_json', 'body_too_large', 'unsupported_media_type');
  if (route.idempotent === true) codes.push('idempotency_key_reused');
  if (route.versioned === true && (route.method === 'PATCH' || route.method === 'DELETE')) codes.push('precondition_failed');
  return codes;
}

/** Every code an operation can answer with, by status, each list in alphabetical order. */
function codesByStatus(route: Route): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set([...impliedErrors(route), ...route.errors])].sort()) {
    const status = problemStatus[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

const pascal = (code: string): string => code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `InvalidTransitionOrProjectArchived`; the four ways in which a key can be wrong are simply `Unauthorized`. */
const componentName = (codes: readonly ErrorCode[]): string =>
  codes.includes('missing_api_key') ? 'Unauthorized' : codes.map(pascal).join('Or');

/** The responses of one operation, as references. */
export function errorResponses(route: Route): Record<string, { $ref: `#/components/responses/${string}` }> {
  const entries = [...codesByStatus(route)].map(
    ([status, codes]) => [String(status), { $ref: `#/components/responses/${componentName(codes)}` as const }] as const,
  );
  return Object.fromEntries(entries);
}

/** All sets of codes that the operations refer to. */
export function responseComponents(routes: readonly Route[]): Record<string, ZodOpenApiResponseObject> {
  const components = new Map<string, ZodOpenApiResponseObject>();
  for (const route of routes) {
    for (const [status, codes] of codesByStatus(route)) {
      const name = componentName(codes);
      if (!components.has(name)) components.set(name, responseOf(status, codes));
    }
  }
  return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function responseOf(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const headers: HeaderName[] = ['Request-Id'];
  if (status === 401 || codes.includes('insufficient_scope')) headers.push('WWW-Authenticate');
  if (status !== 401 && status !== 500) headers.push('RateLimit', 'RateLimit-Policy');
  if (status === 429 || status === 503) headers.push('Retry-After');
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].title}.`).join('\n\n'),
    headers: headerRefs(headers),
    content: {
      [PROBLEM_CONTENT_TYPE]: {
        schema: problem,
        examples: Object.fromEntries(codes.map((code) => [code, { summary: errorCatalogue[code].title, value: exampleOf(code) }])),
      },
    },
  };
}

const exampleDetails: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'This key lacks the scope projects:write.',
  not_found: 'There is no such resource in this workspace.',
  invalid_transition: 'A milestone that is approved cannot become submitted; nothing follows approved.',
  precondition_failed: 'If-Match names version 2; the current version is 3.',
  malformed_json: 'The body is not JSON: Expected double-quoted property name in JSON at position 14 (line 1 column 15).',
  rate_limited: 'This key has used its 1000 requests of this minute; the next one begins in 12 s.',
};

const exampleFields: Partial<Record<ErrorCode, readonly FieldError[]>> = {
  validation_failed: [{ pointer: '/amount', code: 'wrong_type', message: 'Must be an integer.' }],
};

function exampleOf(code: ErrorCode): object {
  const errors = exampleFields[code];
  const [first] = errors ?? [];
  const detail = exampleDetails[code] ?? (first === undefined ? errorCatalogue[code].meaning : `${first.pointer}: ${first.message}`);
  return toProblem(errors === undefined ? { code, detail } : { code, detail, errors }, 'req_mwp6la4i16665f_2s');
}

const string = { type: 'string' as const };

export const headerComponents = {
  'Request-Id': { description: 'Names this request in the log of the server.', schema: string, example: 'req_mwp6la4i16665f_2s' },
  RateLimit: {
    description: 'How many requests the key has left in this minute, at least, and the seconds until it ends.',
    schema: string,
    example: '"default";r=998;t=41',
  },
  'RateLimit-Policy': {
    description: 'How many requests a key may send in how many seconds.',
    schema: string,
    example: '"default";q=1000;w=60',
  },
  'Retry-After': { description: 'The seconds after which to try again.', schema: { type: 'integer' as const, minimum: 1 }, example: 12 },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750).', schema: string, example: 'Bearer realm="tranche"' },
  ETag: { description: 'The version of the resource, for If-Match and If-None-Match.', schema: string, example: '"3"' },
  'Tranche-Consistency': {
    description: '`eventual` where a replica answered: what was written in the last seconds may be missing.',
    schema: string,
    example: 'eventual',
  },
  Location: { description: 'The path of what was created.', schema: { type: 'string' as const, format: 'uri-reference' } },
  'Idempotent-Replayed': {
    description: '`true` where the answer is the stored one of an earlier request with the same Idempotency-Key.',
    schema: string,
    example: 'true',
  },
};

export type HeaderName = keyof typeof headerComponents;

export function headerRefs(names: readonly HeaderName[]): Record<string, { $ref: `#/components/headers/${string}` }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}
