// Who is let in when more is asked than can be done: keys and people alike, by their workspace.
// Touches no database.

import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { type Admission, createAdmission } from './authenticate.ts';

const BUSY = '01993c5a-8f00-7000-8000-000000000001';
const CALM = '01993c5a-8f00-7000-8000-000000000002';

const asked = (headers: Record<string, string>): IncomingMessage => ({ headers }) as unknown as IncomingMessage;

/** Lets in whoever has a cookie, which names the workspace; the writes of one workspace are too many. */
function admitter() {
  const admitted = (workspaceId: string): Admission => ({
    caller: { workspaceId, keyId: null, scopes: [], session: null } as unknown as NonNullable<Admission['caller']>,
    refusal: null,
    context: undefined,
    rateLimit: '"default";r=9;t=1',
  });
  return createAdmission({
    keys: { find: () => Promise.resolve(null) },
    limits: { take: () => 9, secondsToReset: () => 1, limitPerMinute: 10 },
    uses: { record: () => undefined },
    now: () => 0,
    gate: {
      refuses: (workspaceId: string, isWrite: boolean) => workspaceId === BUSY && isWrite,
      refusesStranger: () => false,
    } as never,
    admitSession: async (request) => admitted(request.headers.cookie as string),
  })('workspace');
}

test('a write of a person is refused like one of a key while too many of the workspace wait; reads and other workspaces go on', async () => {
  const admit = admitter();
  const codes = await Promise.all(
    [
      [BUSY, true],
      [BUSY, false],
      [CALM, true],
    ].map(async ([cookie, isWrite]) => (await admit(asked({ cookie: cookie as string }), isWrite as boolean)).refusal?.code ?? null),
  );
  expect(codes).toEqual(['overloaded', null, null]);
});

test('what is refused so still says how much of the minute is left', async () => {
  expect((await admitter()(asked({ cookie: BUSY }), true)).rateLimit).toBe('"default";r=9;t=1');
});
