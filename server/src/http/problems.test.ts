// Every code of the catalogue as a problem: its status, its type and the headers that the status asks for.

import { expect, test } from 'vitest';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { problemHeaders, problemStatus, toProblem } from './problems.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

test.each(codes)('%s is a problem of RFC 9457 with a status of an error', (code) => {
  const problem = toProblem({ code, detail: 'This time.' }, 'req_1');
  expect(problem).toEqual({
    type: code === 'rate_limited' ? 'https://iana.org/assignments/http-problem-types#quota-exceeded' : `/docs/errors/${code}`,
    title: errorCatalogue[code].title,
    status: problemStatus[code],
    detail: 'This time.',
    code,
    request_id: 'req_1',
  });
  expect(problem.status).toBeGreaterThanOrEqual(400);
});

test('errors are passed on as they are', () => {
  const errors = [{ pointer: '/a', code: 'missing', message: 'Required.' }];
  expect(toProblem({ code: 'validation_failed', detail: 'x', errors }, 'r').errors).toBe(errors);
});

test.each([
  ['missing_api_key', {}, { 'WWW-Authenticate': 'Bearer realm="tranche"' }],
  [
    'api_key_revoked',
    {},
    { 'WWW-Authenticate': 'Bearer realm="tranche", error="invalid_token", error_description="The API key was revoked"' },
  ],
  [
    'insufficient_scope',
    { scope: 'events:read' },
    { 'WWW-Authenticate': 'Bearer realm="tranche", error="insufficient_scope", scope="events:read"' },
  ],
  ['insufficient_scope', {}, { 'WWW-Authenticate': 'Bearer realm="tranche", error="insufficient_scope"' }],
  ['rate_limited', { retryAfterSeconds: 17 }, { 'Retry-After': '17' }],
  ['overloaded', {}, { 'Retry-After': '1' }],
  ['method_not_allowed', { allow: 'GET' }, { Allow: 'GET' }],
  ['scope_escalation', {}, {}],
  ['not_found', {}, {}],
] as const)('%s with %j asks for the headers %j', (code, context, headers) => {
  expect(problemHeaders(code, context)).toEqual(headers);
});

test('a challenge is always well-formed: no title holds a quote or anything but ASCII', () => {
  for (const code of codes) if (problemStatus[code] === 401) expect(errorCatalogue[code].title).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
});
