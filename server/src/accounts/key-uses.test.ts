// Last uses: collected in memory, written in bulk, not lost when a write fails.

import { expect, test } from 'vitest';
import { createKeyUses, type KeyUse } from './key-uses.ts';

function setUp() {
  const written: (readonly KeyUse[])[] = [];
  const errors: unknown[] = [];
  const state = { error: null as Error | null };
  const uses = createKeyUses({
    async touch(batch) {
      if (state.error !== null) throw state.error;
      written.push(batch);
    },
    onError: (error) => errors.push(error),
  });
  return { uses, written, errors, state };
}

test('many uses of a key are one row with the latest time', async () => {
  const { uses, written } = setUp();
  uses.record('w', 'a', 1000);
  uses.record('w', 'a', 3000);
  uses.record('w', 'a', 2000);
  uses.record('v', 'b', 500);
  await uses.flush();
  await uses.flush();
  expect(written).toEqual([
    [
      { workspaceId: 'w', keyId: 'a', usedAt: new Date(3000) },
      { workspaceId: 'v', keyId: 'b', usedAt: new Date(500) },
    ],
  ]);
});

test('uses that could not be written are written with the next batch', async () => {
  const { uses, written, errors, state } = setUp();
  uses.record('w', 'a', 1000);
  state.error = new Error('down');
  await uses.flush();
  state.error = null;
  uses.record('w', 'a', 500);
  await uses.flush();
  expect(errors).toHaveLength(1);
  expect(written).toEqual([[{ workspaceId: 'w', keyId: 'a', usedAt: new Date(1000) }]]);
});

test('stopping flushes a last time', async () => {
  const { uses, written } = setUp();
  const stop = uses.start();
  uses.record('w', 'a', 1000);
  await stop();
  expect(written).toHaveLength(1);
});
