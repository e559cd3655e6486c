// Made from the OpenAPI document and the table of roles: every operation, by every role, in the own workspace, in another one, and without
// a session. A new route or role is covered by being there.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../src/domain/ids.ts';
import { allRoles, type Role, roleScopes, roles } from '../src/domain/roles.ts';
import { allScopes } from '../src/domain/scopes.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { addressOf, allOperations, exampleOf, type Operation, operations, rowsDigest } from './support/contract.ts';
import { type Browser, openBrowser, signUpMember, signUpOwner } from './support/people.ts';

let app: TestApp;
let otherWorkspace: string;
let ownWorkspace: string;
const browsers = {} as Record<Role, Browser>;

beforeAll(async () => {
  app = await openTestApp();
  browsers.owner = await signUpOwner(app);
  for (const role of allRoles) if (role !== 'owner') browsers[role] = await signUpMember(app, browsers.owner, role);
  otherWorkspace = encodeId('workspace', (await app.addWorkspace()).id);
  ownWorkspace = encodeId('workspace', app.workspaceId);
});
afterAll(() => app.stop());

/** An id that nothing has: who may call is answered before whether it exists. */
const absentIds = (operation: Operation) => ({ [operation.prefix ?? '']: `${operation.prefix}_00000000000000000000000000` });
const call = (browser: Browser, operation: Operation) =>
  browser.call(operation.method, addressOf(operation, absentIds(operation)), { body: exampleOf(operation) });

/** What somebody is told who may not call at all. */
const FORBIDDEN = ['missing_api_key', 'not_signed_in', 'not_a_member', 'workspace_required', 'foreign_origin', 'insufficient_scope'];
/** Everybody may leave. */
const OPEN_TO_MEMBERS = ['removeMember'];
/** Its body decides: below. */
const BY_BODY = 'updateMilestone';

describe.each(allRoles)('%s', (role) => {
  test('is answered by exactly the operations whose scope the role holds (I-38)', async () => {
    const browser = browsers[role];
    browser.workspace = ownWorkspace;
    for (const operation of operations.filter(({ name }) => name !== BY_BODY)) {
      const { status, body } = await call(browser, operation);
      const seen = FORBIDDEN.includes(body?.code) ? body.code : 'answered';
      const holds = operation.scope === null ? OPEN_TO_MEMBERS.includes(operation.name) : roleScopes[role].includes(operation.scope);
      expect([operation.name, seen, status < 500], JSON.stringify(body)).toEqual([
        operation.name,
        holds ? 'answered' : 'insufficient_scope',
        true,
      ]);
    }
  });

  test('is answered by no operation in a workspace they are no member of, and changes nothing there or here (I-38)', async () => {
    const browser = browsers[role];
    browser.workspace = otherWorkspace;
    const before = await rowsDigest(app);
    for (const operation of operations) {
      const { status, body } = await call(browser, operation);
      expect([operation.name, status, body.code]).toEqual([operation.name, 403, 'not_a_member']);
    }
    expect(await rowsDigest(app)).toBe(before);
  });
});

test.each([
  [{ status: 'approved' }, ['owner', 'admin', 'finance']],
  [{ status: 'changes_requested', reason: 'r' }, ['owner', 'admin', 'finance']],
  [{ status: 'submitted' }, ['owner', 'admin', 'developer']],
  [{ title: 'Another' }, ['owner', 'admin', 'developer']],
  [{ status: 'approved', title: 'Another' }, ['owner', 'admin']],
])('a milestone is changed by %j by the roles that may, and by no other (I-38)', async (body, may) => {
  for (const role of allRoles) {
    const browser = browsers[role];
    browser.workspace = ownWorkspace;
    const { status } = await browser.call('PATCH', '/v1/milestones/mil_00000000000000000000000000', { body });
    expect([role, status]).toEqual([role, may.includes(role) ? 404 : 403]);
  }
});

describe('without a session', () => {
  test.each([
    ['no cookie', undefined, 'missing_api_key'],
    ['a cookie that is no session', 'tranche_session=00000000000000000000000000000000.x', 'not_signed_in'],
    ['a cookie of something else', 'theme=dark', 'not_signed_in'],
    ['a cookie that cannot be one', 'tranche_session=%ff%00; tranche_session=', 'not_signed_in'],
  ])('with %s nothing that needs one is answered, and nothing changes (I-38)', async (_what, cookie, code) => {
    const before = await rowsDigest(app);
    for (const operation of allOperations.filter(({ access }) => access !== 'anyone')) {
      const browser = openBrowser(app, cookie === undefined ? {} : { cookie });
      const { status, body } = await call(browser, operation);
      const wanted = operation.access === 'person' ? 'not_signed_in' : code;
      expect([operation.name, status, body.code]).toEqual([operation.name, 401, wanted]);
    }
    expect(await rowsDigest(app)).toBe(before);
  });

  test('a key opens nothing that belongs to a person', async () => {
    for (const operation of allOperations.filter(({ access }) => access === 'person')) {
      const { status, body } = await app.call(operation.method, addressOf(operation, absentIds(operation)), { body: exampleOf(operation) });
      expect([operation.name, status, body.code]).toEqual([operation.name, 401, 'not_signed_in']);
    }
  });

  test('only signing up and in, and looking an invitation up, are open to anybody', () => {
    const open = allOperations.filter(({ access }) => access === 'anyone').map(({ name }) => name);
    expect(open.sort()).toEqual(['completeSignIn', 'getSetupState', 'lookUpInvitation', 'signIn', 'signUp']);
  });
});

describe('the roles', () => {
  test('hold what they say: the owner everything, the admin all but ownership, the others no more than the admin', () => {
    expect(roleScopes.owner).toEqual(allScopes);
    expect(allScopes.filter((scope) => !roleScopes.admin.includes(scope))).toEqual(['workspace:own']);
    for (const role of allRoles) {
      if (role !== 'owner') expect(roleScopes[role].filter((scope) => !roleScopes.admin.includes(scope))).toEqual([]);
      expect(roles[role]).toMatch(/\.$/);
    }
  });

  test('part who delivers from who approves and pays, and let a viewer change nothing', () => {
    for (const scope of ['milestones:approve', 'payments:release'] as const) {
      expect(allRoles.filter((role) => roleScopes[role].includes(scope))).toEqual(['owner', 'admin', 'finance']);
    }
    expect(roleScopes.finance).not.toContain('milestones:submit');
    expect(roleScopes.viewer.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
    for (const scope of ['api_keys:read', 'audit:read', 'request_log:read'] as const) expect(roleScopes.viewer).not.toContain(scope);
  });
});
