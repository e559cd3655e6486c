// Many calls at once through a proxy that spoils most of their exchanges, by chance: in the end each has had its effect exactly once.
// The faults one by one are in the shared scenario.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEnvironment, type TestEnvironment } from '../../testing/environment.ts';
import { Tranche } from '../src/index.ts';

const CALLS = 40;
const FAULTS = 50;

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await openTestEnvironment();
}, 180_000);
afterAll(() => environment?.close());

/** Small and repeatable: a failure can be played again from its seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const faults = [
  { fault: 'drop_before' },
  { fault: 'drop_after' },
  { fault: 'truncate' },
  { fault: 'answer_before', status: 503, text: 'busy' },
  { fault: 'answer_after', status: 500, text: 'oops' },
  { fault: 'answer_after', status: 502, text: 'bad gateway' },
  { fault: 'slow_body', delay_ms: 1_500 },
  { fault: 'slow_answer', delay_ms: 1_500 },
];

test('no call has its effect twice, and none is lost, whatever becomes of their exchanges', async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = randomFrom(seed);
  const {
    TRANCHE_PROXY_URL: baseUrl,
    TRANCHE_CONTROL_URL: control,
    TRANCHE_API_KEY: apiKey,
    TRANCHE_BASE_URL: direct,
  } = environment.variables;
  for (let n = 0; n < FAULTS; n++) {
    const body = JSON.stringify(faults[Math.floor(random() * faults.length)]);
    expect((await fetch(`${control}/faults`, { method: 'POST', body })).status).toBe(200);
  }
  const spoiled = new Tranche({ apiKey, baseUrl, maxRetries: 10, timeoutMs: 1_000 });
  const created = await Promise.all(
    Array.from({ length: CALLS }, (_, n) => spoiled.projects.create({ name: `Call ${n}`, client_id: `faults-${seed}` })),
  );
  const { exchanges } = (await (await fetch(`${control}/exchanges`)).json()) as { exchanges: { fault: string | null }[] };
  expect(exchanges.filter(({ fault }) => fault !== null).length, `seed ${seed}`).toBe(FAULTS);

  const whole = new Tranche({ apiKey, baseUrl: direct });
  const found = await whole.projects.list({ client: `faults-${seed}`, limit: 100 }).toArray({ limit: 2 * CALLS });
  expect(found.map(({ id }) => id).toSorted(), `seed ${seed}`).toEqual(created.map(({ id }) => id).toSorted());
  expect(new Set(found.map(({ name }) => name)).size).toBe(CALLS);
  const events = await whole.events.list({ limit: 100 }).toArray({ limit: 10 * CALLS });
  expect(events.filter(({ type }) => type === 'project.created')).toHaveLength(CALLS);
}, 180_000);
