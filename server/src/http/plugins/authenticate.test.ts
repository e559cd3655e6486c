// Who is let in under load: a quiet workspace is judged by what it has under way, also when its key has to be looked up again; and people like keys.
// Keys, leases and queues are the test's own.

import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createKeyCache, MAX_ENTRY_AGE_MS } from '../../accounts/key-cache.ts';
import { createRateLimit } from '../../accounts/rate-limit.ts';
import { createLoadGate } from '../load-gate.ts';
import { makeKey, memoryLeases, NOW_MS } from '../test-server.ts';
import type { Admission } from './admission.ts';
import { createAdmission } from './authenticate.ts';

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
    keys: { find: () => Promise.resolve(null), workspaceOf: () => null },
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

const NOISY = '01993c5a-8f00-7000-8000-00000000000a';
const QUIET = '01993c5a-8f00-7000-8000-00000000000b';

function setUp() {
  const time = { ms: NOW_MS };
  const state = { databaseWaitMs: 0 };
  const keys = [makeKey('noisy', { workspaceId: NOISY }), makeKey('quiet', { workspaceId: QUIET })];
  const now = (): number => time.ms;
  const lookUp = async (hashes: Buffer[]) => keys.filter(({ hash }) => hashes.some((asked) => asked.equals(hash)));
  const gate = createLoadGate({
    databaseWaitMs: () => state.databaseWaitMs,
    isLaneBusyFor: () => false,
    maxWaitMs: 100,
    uptimeMs: now,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const admit = createAdmission({
    keys: createKeyCache({ lookUp, database: { isListening: () => true }, now }),
    limits: createRateLimit({ limitPerMinute: 1_000, lease: memoryLeases(), now }),
    uses: { record: () => {} },
    now,
    gate,
  })('workspace');
  const codeOf = async (secret: string): Promise<string | null> =>
    (await admit(asked({ authorization: `Bearer ${secret}` }), false)).refusal?.code ?? null;
  return { codeOf, gate, keys, state, time };
}

test('a workspace that asks now and then is let in while a busy one is refused, although its key is no longer cached', async () => {
  const { codeOf, gate, state, time } = setUp();
  expect([await codeOf('noisy'), await codeOf('quiet')]).toEqual([null, null]);
  state.databaseWaitMs = 10_000;
  for (let i = 0; i < 50; i++) gate.began(NOISY);
  for (let i = 0; i < 5; i++) {
    // As long as Retry-After says, and longer than an entry is believed.
    time.ms += MAX_ENTRY_AGE_MS + 100;
    expect([await codeOf('noisy'), await codeOf('quiet')]).toEqual(['overloaded', null]);
  }
});

test('a key of nobody known is refused while there is too much to do, and judged as the others once it was looked up', async () => {
  const { codeOf, gate, state, time } = setUp();
  state.databaseWaitMs = 10_000;
  for (let i = 0; i < 50; i++) gate.began(NOISY);
  expect([await codeOf('quiet'), await codeOf('nobody')]).toEqual(['overloaded', 'overloaded']);
  await new Promise(setImmediate);
  time.ms += MAX_ENTRY_AGE_MS + 100;
  expect([await codeOf('quiet'), await codeOf('nobody')]).toEqual([null, 'overloaded']);
});

test('whose key it was decides about the wait alone: a key that is gone is refused as such', async () => {
  const { codeOf, gate, keys, state, time } = setUp();
  expect(await codeOf('quiet')).toBeNull();
  keys.pop();
  time.ms += MAX_ENTRY_AGE_MS + 100;
  state.databaseWaitMs = 10_000;
  for (let i = 0; i < 50; i++) gate.began(NOISY);
  expect(await codeOf('quiet')).toBe('invalid_api_key');
});
