// kill -9 in the middle of load, on both databases: nothing that was answered is lost, nothing is half done, nothing happens twice.
// Real processes, killed for real, after a number of answers that the seed decides. CRASH_SEED repeats a run.

import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { defaultEventTypes } from '../src/domain/event.ts';
import { openPglite } from '../src/store/pglite.ts';
import { type Environment, type Place, places, startServer, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { openReceiver, type Receiver, until } from './support/webhook-fixtures.ts';

const ROUNDS = 3;
const CLIENTS = 12;

/** A delivery that was claimed when its process died is left alone for a minute. As if that minute had passed. */
async function endLeases(variables: Environment): Promise<void> {
  const text = `update deliveries set next_attempt_at = now() where status = 'pending' and lease_token is not null`;
  if (variables.DATABASE_URL !== undefined) {
    const client = new pg.Client({ connectionString: variables.DATABASE_URL });
    await client.connect();
    await client.query(text);
    await client.end();
  } else {
    const quietly = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const database = await openPglite({ dataDir: variables.DATA_DIR as string, log: quietly });
    await database.query(text);
    await database.close();
  }
}

/** Throws at the first webhook whose signature does not hold. */
function checkSignatures({ received }: Receiver, secret: string): void {
  const webhook = new Webhook(secret);
  const bodies = new Map<string, string>();
  for (const { body, headers } of received) {
    webhook.verify(body, headers as Record<string, string>);
    const id = String(headers['webhook-id']);
    expect(body).toBe(bodies.get(id) ?? body);
    bodies.set(id, body);
  }
}

async function survive(place: Place): Promise<void> {
  const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.info(`${place.name}: CRASH_SEED=${seed}`);
  const random = randomFrom(seed);
  const variables = await place.make();
  const receiver = await openReceiver();

  let server = await startServer(variables);
  const { secret } = await server.ok('POST', '/v1/webhook_endpoints', { body: { url: receiver.url } });
  const keys = [variables.TRANCHE_API_KEY as string];
  for (const name of ['second', 'third']) {
    const scopes = ['projects:write', 'projects:read', 'milestones:write', 'milestones:read', 'milestones:submit', 'milestones:approve'];
    keys.push((await server.ok('POST', '/v1/api_keys', { body: { name, scopes } })).secret);
  }
  const load = new Load(keys, random);

  for (let round = 1; round <= ROUNDS; round++) {
    const enough = load.answered + 20 + Math.floor(random() * 150);
    const running = load.run([server], CLIENTS);
    await until(() => load.answered >= enough);
    await server.kill9();
    load.stop();
    await running;
    if (round === ROUNDS) await endLeases(variables);
    server = await startServer(variables);
    load.check(await readBooks(server));
    const proven = await tranche(['verify'], variables);
    expect([proven.code, proven.stdout]).toEqual([0, expect.stringContaining('ok  hash chain')]);
    await load.settle(server);
  }

  const books = await readBooks(server);
  load.check(books);
  expect(books.payments).toHaveLength(load.stories.length);
  const wanted = books.events.filter((event) => (defaultEventTypes as readonly string[]).includes(event.type)).map((event) => event.id);
  expect(wanted).toHaveLength(4 * load.stories.length);
  await until(() => {
    const arrived = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    return wanted.every((id) => arrived.has(id));
  });
  checkSignatures(receiver, secret);
  expect((await server.stop()).code).toBe(0);
  expect((await tranche(['verify'], variables)).code).toBe(0);
}

for (const place of places) {
  describe.skipIf(!place.available)(
    `kill -9 in the middle of load, ${place.name}${place.available ? '' : ` (skipped: ${place.reason})`}`,
    () => {
      test('what was answered is there, what was not is whole or absent, a repetition settles it, and every event is delivered', async () => {
        await survive(place);
      }, 240_000);
    },
  );
}
