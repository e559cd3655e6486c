// The service as a good engineer writes it by hand: Fastify and pg, one query per read (the key's look-up included), one transaction per approval.
// Exists only to be measured against: the same tables, indexes, rows and answers as ours, prepared statements, a tuned pool, no batching.

import { createHash, randomFillSync } from 'node:crypto';
import fastify, { type FastifyReply } from 'fastify';
import pg from 'pg';
import { createIdGenerator, decodeId, encodeId } from '../../server/src/domain/ids.ts';
import { type MilestoneRow, milestoneAnswer, type PaymentRow, paymentAnswer, problemAnswer } from './answers.ts';
import { approveMilestone } from './approve.ts';

const { PORT, DATABASE_URL, POOL_SIZE = '10' } = process.env;
// With 2 cores, pools of 8 to 12 were the fastest of 2 to 64.
const pool = new pg.Pool({
  pipeline: true,
  connectionString: DATABASE_URL,
  max: Number(POOL_SIZE),
  min: Number(POOL_SIZE),
  idleTimeoutMillis: 0,
});
const newId = createIdGenerator(Date.now, (bytes) => randomFillSync(bytes));
const app = fastify();

const hashOfKey = (header: string | undefined): Buffer | null =>
  header?.startsWith('Bearer ') === true ? createHash('sha256').update(header.slice(7)).digest() : null;

function refuse(reply: FastifyReply, status: number, code: string): FastifyReply {
  return reply
    .code(status)
    .type('application/problem+json')
    .send({ type: `/docs/errors/${code}`, title: code, status, code });
}

/** Index api_keys_by_hash, then the primary key of payments: the key and the record in one round trip. */
const readPayment = {
  name: 'read-payment',
  text: `select k.scopes, k.revoked_at, k.expires_at, p.id, p.project_id, p.milestone_id, p.invoice_id, p.client_id, p.payee_id,
           p.amount_minor, p.currency, p.status, p.released_at, p.created_at
         from api_keys k left join payments p on p.workspace_id = k.workspace_id and p.id = $2
         where k.hash = $1`,
};

interface KeyRow {
  workspace_id: string;
  scopes: string[];
  revoked_at: Date | null;
  expires_at: Date | null;
}

/** Why a key may not do this, as a status and a code; null when it may. */
function refusalOf(key: Omit<KeyRow, 'workspace_id'> | undefined, scope: string): [number, string] | null {
  if (key === undefined) return [401, 'invalid_api_key'];
  if (key.revoked_at !== null && key.revoked_at.getTime() <= Date.now()) return [401, 'api_key_revoked'];
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) return [401, 'api_key_expired'];
  return key.scopes.includes(scope) ? null : [403, 'insufficient_scope'];
}

app.get<{ Params: { id: string } }>(
  '/v1/payments/:id',
  { schema: { response: { 200: paymentAnswer, '4xx': problemAnswer } } },
  async (request, reply) => {
    const hash = hashOfKey(request.headers.authorization);
    if (hash === null) return refuse(reply, 401, 'missing_api_key');
    const id = decodeId('payment', request.params.id);
    if (id === null) return refuse(reply, 404, 'not_found');
    const { rows } = await pool.query<Omit<KeyRow, 'workspace_id'> & PaymentRow>({ ...readPayment, values: [hash, id] });
    const row = rows[0];
    const refusal = refusalOf(row, 'payments:read');
    if (refusal !== null) return refuse(reply, ...refusal);
    if (row === undefined || row.id === null) return refuse(reply, 404, 'not_found');
    return {
      id: request.params.id,
      object: 'payment',
      project_id: encodeId('project', row.project_id),
      milestone_id: encodeId('milestone', row.milestone_id),
      invoice_id: encodeId('invoice', row.invoice_id),
      client_id: row.client_id,
      payee_id: row.payee_id,
      amount: Number(row.amount_minor),
      currency: row.currency,
      status: row.status,
      allowed_transitions: row.status === 'pending' ? ['released'] : [],
      released_at: row.released_at,
      created_at: row.created_at,
    };
  },
);

const findKey = { name: 'find-key', text: 'select workspace_id, scopes, revoked_at, expires_at from api_keys where hash = $1' };

const approval = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { type: 'string', enum: ['approved'] } },
} as const;

function present(row: MilestoneRow): Record<string, unknown> {
  const { workspace_id: _workspace, client_id: _client, amount_minor, ...fields } = row;
  return {
    ...fields,
    id: encodeId('milestone', row.id),
    object: 'milestone',
    project_id: encodeId('project', row.project_id),
    amount: Number(amount_minor),
    allowed_transitions: [],
  };
}

app.patch<{ Params: { id: string } }>(
  '/v1/milestones/:id',
  { schema: { body: approval, response: { 200: milestoneAnswer, '4xx': problemAnswer } } },
  async (request, reply) => {
    const hash = hashOfKey(request.headers.authorization);
    if (hash === null) return refuse(reply, 401, 'missing_api_key');
    const id = decodeId('milestone', request.params.id);
    if (id === null) return refuse(reply, 404, 'not_found');
    const { rows } = await pool.query<KeyRow>({ ...findKey, values: [hash] });
    const key = rows[0];
    const refusal = refusalOf(key, 'milestones:approve');
    if (refusal !== null || key === undefined) return refuse(reply, ...(refusal ?? [401, 'invalid_api_key']));
    const outcome = await approveMilestone(pool, newId, key.workspace_id, id);
    return typeof outcome === 'string' ? refuse(reply, outcome === 'not_found' ? 404 : 409, outcome) : present(outcome);
  },
);

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
