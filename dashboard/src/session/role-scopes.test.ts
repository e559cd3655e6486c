// The dashboard's table of roles, held against the server's.

import { expect, test } from 'vitest';
import { allRoles, roleScopes } from '../../../server/src/domain/roles.ts';
import { allScopes } from '../../../server/src/domain/scopes.ts';
import { roleHolds } from './role-scopes.ts';

test.each(allRoles)('what the dashboard offers to the role %s is what the server lets it do', (role) => {
  expect(allScopes.filter((scope) => roleHolds(role, scope))).toEqual(allScopes.filter((scope) => roleScopes[role].includes(scope)));
});
