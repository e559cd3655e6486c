// Webhooks as a good engineer sends them by hand: a table as the queue, `for update skip locked`, a pool of workers, one statement a result.
// Exists only to be measured against: the same rows and signatures as ours; no fairness, no breaker, no caps, no repair.

import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Agent } from 'undici';
import { encodeId } from '../../server/src/domain/ids.ts';

const { DATABASE_URL, WORKSPACE_ID = '', CHANNEL = '', SECRET = '', CONCURRENCY = '64' } = process.env;
const concurrency = Number(CONCURRENCY);
const pool = new pg.Pool({ pipeline: true, connectionString: DATABASE_URL, max: 10, min: 10, idleTimeoutMillis: 0 });
const agent = new Agent({ connections: concurrency });
const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
const LEASE_SECONDS = 30;
const EVENTS_AT_ONCE = 500;
const POLL_MS = 1_000;

/** The cursor's row is locked, so that two senders never fan the same event out; events by primary key. */
const fanOut = {
  name: 'fan-out',
  text: `
    with cursor as (select seq from webhook_cursors where workspace_id = $1 for update),
      fresh as (select e.seq, e.type from events e, cursor where e.workspace_id = $1 and e.seq > cursor.seq order by e.seq limit ${EVENTS_AT_ONCE}),
      made as (
        insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, next_attempt_at, created_at)
        select $1, gen_random_uuid(), w.id, f.seq, 'pending', now(), now()
        from fresh f join webhook_endpoints w on w.workspace_id = $1 and w.status = 'enabled' and w.deleted_at is null
          and (w.event_types is null or f.type = any(w.event_types)))
    update webhook_cursors set seq = (select max(seq) from fresh) where workspace_id = $1 and exists (select from fresh)`,
};

/** Index deliveries_due of each endpoint; locked rows are another sender's. */
const claim = {
  name: 'claim',
  text: `
    with due as (
      select d.workspace_id, d.id from deliveries d
      where d.workspace_id = $1 and d.status = 'pending' and d.lease_token is null and d.order_key is null and d.next_attempt_at <= now()
      limit $2 for update skip locked),
    claimed as (
      update deliveries d set lease_token = gen_random_uuid(), next_attempt_at = now() + interval '${LEASE_SECONDS} seconds'
      from due where d.workspace_id = due.workspace_id and d.id = due.id
      returning d.id, d.endpoint_id, d.event_seq, d.lease_token, d.attempts)
    select c.id, c.lease_token, c.attempts, c.event_seq, e.id as event_id, e.body, w.url
    from claimed c join events e on e.workspace_id = $1 and e.seq = c.event_seq
      join webhook_endpoints w on w.workspace_id = $1 and w.id = c.endpoint_id`,
};

/** Primary key; a result counts only while its lease is held. */
const record = {
  name: 'record',
  text: `
    with settled as (
      update deliveries set status = $4, attempts = attempts + 1, lease_token = null,
        next_attempt_at = case when $4 = 'pending' then now() + interval '5 seconds' end, completed_at = case when $4 = 'succeeded' then now() end
      where workspace_id = $1 and id = $2 and lease_token = $3 returning id, attempts)
    insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, response_body)
    select $1, id, attempts, $5, $6, $7, $8 from settled`,
};

interface Claimed {
  id: string;
  lease_token: string;
  attempts: number;
  event_seq: string;
  event_id: string;
  body: string;
  url: string;
}

async function send(delivery: Claimed): Promise<{ status: number | null; text: string }> {
  const { origin, pathname } = new URL(delivery.url);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const id = encodeId('event', delivery.event_id);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${delivery.body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
    'tranche-seq': delivery.event_seq,
    'tranche-attempt': String(delivery.attempts + 1),
  };
  try {
    const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body: delivery.body, headersTimeout: 15_000 });
    return { status: answer.statusCode, text: await answer.body.text() };
  } catch {
    return { status: null, text: '' };
  }
}

let free = concurrency;
let wake: () => void = () => undefined;

async function deliver(delivery: Claimed): Promise<void> {
  const startedAt = new Date();
  const { status, text } = await send(delivery);
  free += 1;
  // With a quarter free it is worth asking for more.
  if (free >= concurrency / 4) wake();
  const outcome = status !== null && status < 300 ? 'succeeded' : 'pending';
  const durationMs = Date.now() - startedAt.getTime();
  await pool.query({ ...record, values: [WORKSPACE_ID, delivery.id, delivery.lease_token, outcome, startedAt, durationMs, status, text] });
}

async function run(): Promise<never> {
  const listener = new pg.Client({ connectionString: DATABASE_URL });
  await listener.connect();
  listener.on('notification', () => wake());
  await listener.query(`listen ${CHANNEL}`);
  await pool.query('insert into webhook_cursors (workspace_id, seq) values ($1, 0) on conflict do nothing', [WORKSPACE_ID]);
  process.send?.({ kind: 'listening', port: 0 });
  for (;;) {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const { rowCount } = await pool.query({ ...fanOut, values: [WORKSPACE_ID] });
    const { rows } = free === 0 ? { rows: [] } : await pool.query<Claimed>({ ...claim, values: [WORKSPACE_ID, free] });
    free -= rows.length;
    for (const delivery of rows) void deliver(delivery);
    const isIdle = rowCount === 0 && rows.length === 0;
    if (isIdle || free === 0) await Promise.race([woken, pause(POLL_MS)]);
  }
}

process.on('disconnect', () => process.exit(0));
await run();
