// Hints: the first at once, those of a busy time together, and a failure stops none of the later ones.

import { expect, test } from 'vitest';
import { until } from '../../test/support/webhook-fixtures.ts';
import { createHintAnnouncer } from './hint-announcer.ts';

const hint = (workspace: string, ...resources: string[]): Map<string, Set<string>> => new Map([[workspace, new Set(resources)]]);

test('the first hint is told at once, and those of the next moments together', async () => {
  const told: string[] = [];
  const announcer = createHintAnnouncer({ notify: async (channel, text) => void told.push(`${channel} ${text}`) }, () => undefined);
  announcer.announce(hint('a', 'milestones'));
  announcer.announce(new Map());
  expect(told).toEqual(['changes a:milestones']);
  for (const resource of ['milestones', 'projects', 'milestones']) announcer.announce(hint('b', resource));
  announcer.announce(hint('a', 'members'));
  await until(() => told.length > 1);
  expect(told).toEqual(['changes a:milestones', 'changes b:milestones+projects,a:members']);
});

test('a hint that cannot be sent is dropped, and the next one goes out', async () => {
  const told: string[] = [];
  const errors: unknown[] = [];
  const notify = async (_channel: string, text: string): Promise<void> => {
    if (text.startsWith('lost')) throw new Error('gone');
    told.push(text);
  };
  const announcer = createHintAnnouncer({ notify }, (error) => errors.push(error));
  announcer.announce(hint('lost', 'milestones'));
  announcer.announce(hint('found', 'milestones'));
  await until(() => told.length > 0);
  expect([errors.length, told]).toEqual([1, ['found:milestones']]);
});
