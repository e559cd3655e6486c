// The audit log in words: every action has some, and a change reads as what it was and became.

import { expect, test } from 'vitest';
import { auditActions } from '../../../../server/src/domain/audit.ts';
import type { AuditEntry } from '../../client/sdk.ts';
import { actionWords, subjectOf, summaryOf, wordsOfAction, wordsOfActor } from './audit-words.ts';

const entry = (changes: AuditEntry['changes']): AuditEntry => ({
  id: 'aud_1',
  object: 'audit_entry',
  occurred_at: '2026-03-21T08:00:00.000Z',
  actor: { type: 'person', id: 'per_1', name: 'Ada' },
  action: 'member.role_changed',
  target: { type: 'member', id: 'mem_1' },
  changes,
  ip: null,
  user_agent: null,
});

test('every action of the server has words, and one it does not know yet is shown by its name', () => {
  expect(Object.keys(actionWords).sort()).toEqual(Object.keys(auditActions).sort());
  expect(wordsOfAction('refund.made')).toBe('refund.made');
});

test('who did it is a person by name, a key by name, or the service', () => {
  expect(wordsOfActor({ type: 'person', id: 'per_1', name: 'Ada' })).toBe('Ada');
  expect(wordsOfActor({ type: 'key', id: 'key_1', name: 'billing' })).toBe('Key billing');
  expect(wordsOfActor({ type: 'system', id: null, name: null })).toBe('Operator or service');
});

test('a change reads as what it was and became, and the subject by its name where that is known', () => {
  const changed = entry([{ field: 'role', from: 'viewer', to: 'finance' }]);
  expect(summaryOf(changed, 'Grace')).toBe('Role: viewer → finance');
  expect(subjectOf(changed, new Map([['mem_1', 'Grace']]))).toBe('Grace');
  expect(subjectOf(changed, new Map())).toBeNull();
  const added = entry([
    { field: 'name', from: null, to: 'Grace' },
    { field: 'role', from: null, to: 'viewer' },
  ]);
  expect(summaryOf(added, null)).toBe('Name: Grace, and 1 more');
  expect(summaryOf(added, 'Grace')).toBe('Role: viewer');
  expect(subjectOf(added, new Map())).toBe('Grace');
});
