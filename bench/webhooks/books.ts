// The books of the webhook benchmark, written by bulk SQL: a workspace, endpoints, events as a commit leaves them, and backlogs.
// Looks only at what the measures need; sends nothing.

import { randomBytes, randomFillSync } from 'node:crypto';
import pg from 'pg';
import { unharmed } from '../../server/src/domain/endpoint-flow.ts';
import { GENESIS_HASH } from '../../server/src/domain/event.ts';
import { createIdGenerator, type Uuid } from '../../server/src/domain/ids.ts';
import { createCipher } from '../../server/src/store/cipher.ts';
import type { Queryable } from '../../server/src/store/database.ts';
import { insertRows } from '../../server/src/store/tables.ts';
import { webhookEndpointTable } from '../../server/src/store/webhook-endpoints.ts';
import { insertWorkspace } from '../../server/src/store/workspaces.ts';
import { makeSigningSecret } from '../../server/src/webhooks/sign.ts';
import { EVENTS_CHANNEL } from '../../server/src/webhooks/spread.ts';
import { eventBody } from './body.ts';

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
const newId = createIdGenerator(Date.now, random);
const now = (): number => performance.timeOrigin + performance.now();

export interface Books {
  readonly workspaceId: Uuid;
  /** What the worker needs to send for them. */
  readonly environment: Readonly<Record<string, string>>;
  addEndpoints(urls: readonly string[], maxConcurrency: number): Promise<Uuid[]>;
  /** Commits events and tells of them. Returns their sequence numbers and when the commit was sent. */
  commit(count: number): Promise<{ firstSeq: number; lastSeq: number; committedAt: number }>;
  /** Deliveries that are due already, as many for each endpoint, with their events; no worker should be running. */
  addBacklog(endpointIds: readonly Uuid[], perEndpoint: number): Promise<void>;
  countUnfinished(): Promise<number>;
  close(): Promise<void>;
}

export async function openBooks(url: string): Promise<Books> {
  const client = new pg.Client({ connectionString: url });
  const notifier = new pg.Client({ connectionString: url });
  await Promise.all([client.connect(), notifier.connect()]);
  const queryable: Queryable = {
    query: async <Row>(text: string, parameters?: readonly unknown[]) => (await client.query(text, parameters as unknown[])).rows as Row[],
  };
  const key = randomBytes(32);
  const cipher = createCipher(key);
  const workspaceId = newId();
  const createdAt = new Date();
  await insertWorkspace(queryable, { id: workspaceId, name: 'bench', defaultCurrency: 'USD', createdAt }, GENESIS_HASH);
  let lastSeq = 0;

  const insertEvents = (from: number, to: number): Promise<unknown> =>
    client.query(
      `insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
       select $1, n, gen_random_uuid(), 'payment.released', gen_random_uuid(), b.bodies[1 + n % array_length(b.bodies, 1)], '\\x00', now()
       from generate_series($2::bigint, $3::bigint) n, (select $4::text[] as bodies) b`,
      [workspaceId, from, to, bodies],
    );

  return {
    workspaceId,
    environment: { DATABASE_URL: url, ENCRYPTION_KEY: key.toString('base64') },
    async addEndpoints(urls, maxConcurrency) {
      const endpoints = urls.map((address) => {
        const id = newId();
        return {
          id,
          workspaceId,
          url: address,
          description: null,
          eventTypes: null,
          status: 'enabled' as const,
          disabledReason: null,
          disabledCause: null,
          secrets: [{ sealed: cipher.seal(makeSigningSecret(random), id), expiresAt: null }],
          signatureSchemes: ['v1' as const],
          signingKeys: [],
          headers: [],
          maxConcurrency,
          rateLimitPerSecond: null,
          ordering: 'none' as const,
          generation: 1,
          health: unharmed,
          afterSeq: lastSeq,
          version: 1,
          createdAt,
          updatedAt: createdAt,
          deletedAt: null,
        };
      });
      await insertRows(queryable, webhookEndpointTable, endpoints);
      return endpoints.map(({ id }) => id);
    },
    async commit(count) {
      const firstSeq = lastSeq + 1;
      lastSeq += count;
      await client.query('begin');
      await insertEvents(firstSeq, lastSeq);
      await client.query('update workspace_heads set event_seq = $2 where workspace_id = $1', [workspaceId, lastSeq]);
      const committedAt = now();
      await client.query('commit');
      await notifier.query('select pg_notify($1, $2)', [EVENTS_CHANNEL, workspaceId]);
      return { firstSeq, lastSeq, committedAt };
    },
    async addBacklog(endpointIds, perEndpoint) {
      const firstSeq = lastSeq + 1;
      lastSeq += perEndpoint;
      await insertEvents(firstSeq, lastSeq);
      await client.query('update workspace_heads set event_seq = $2 where workspace_id = $1', [workspaceId, lastSeq]);
      await client.query(
        `insert into webhook_cursors (workspace_id, seq) values ($1, $2) on conflict (workspace_id) do update set seq = excluded.seq`,
        [workspaceId, lastSeq],
      );
      for (const endpointId of endpointIds) {
        await client.query(
          `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, next_attempt_at, created_at)
           select $1, gen_random_uuid(), $2, n, 'pending', now(), now() from generate_series($3::bigint, $4::bigint) n`,
          [workspaceId, endpointId, firstSeq, lastSeq],
        );
      }
      await client.query('vacuum analyze deliveries');
      await client.query('checkpoint');
    },
    async countUnfinished() {
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::integer as n from deliveries where status <> 'succeeded' or attempts <> 1`,
      );
      return rows[0]?.n ?? 0;
    },
    async close() {
      await Promise.all([client.end(), notifier.end()]);
    },
  };
}

/** A few different ones are enough; the text is made once. */
const bodies = Array.from({ length: 100 }, (_, i) => eventBody(i));
