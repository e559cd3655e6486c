// Hints of changes: what they name, what they leave to the events, and their way through a notification.

import { expect, test } from 'vitest';
import { hintTexts, quietResourcesOf, readHintText } from './change-hint.ts';
import type { Changes } from './decision.ts';

const some = [{}] as never;

test.each<[string, Changes, readonly string[]]>([
  ['a start names milestones', { milestones: some }, ['milestones']],
  ['a new role names members and the audit log', { members: some, audit: some }, ['members', 'audit_entries']],
  ['what an event tells of is not named', { milestones: some, payments: some, events: some }, []],
  ['an edit whose list of events is empty is', { projects: some, events: [] }, ['projects']],
  ['a repetition that changes nothing names nothing', {}, []],
])('%s', (_name, changes, named) => {
  expect(quietResourcesOf(changes)).toEqual(named);
});

test('hints of any number of workspaces go through notifications of at most 8,000 bytes', () => {
  const kinds = new Set([
    'milestones',
    'projects',
    'api_keys',
    'webhook_endpoints',
    'members',
    'invitations',
    'audit_entries',
    'workspace',
  ]);
  const hints = new Map(Array.from({ length: 100 }, (_, n) => [`01900000-0000-7000-8000-${String(n).padStart(12, '0')}`, kinds]));
  const texts = hintTexts(hints);
  expect(Math.max(...texts.map((text) => text.length))).toBeLessThan(8_000);
  const read = new Map(texts.flatMap((text) => [...readHintText(text)]));
  expect(read).toEqual(new Map(Array.from(hints, ([id]) => [id, [...kinds]])));
});
