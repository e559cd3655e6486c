// Reads as a good engineer writes them by hand: the key and the records in one round trip, prepared, a list by keyset along its index.
// Every read is a query of its own; nothing is batched and nothing cached.

import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { decodeId, encodeId } from '../../server/src/domain/ids.ts';
import { hashOfKey, type KeyRow, type Refusal, refusalOf, refuse } from './access.ts';
import { type PaymentRow, paymentAnswer, paymentPage, presentPayment, problemAnswer } from './answers.ts';

type Key = Omit<KeyRow, 'workspace_id'>;

const columns = ['id', 'project_id', 'milestone_id', 'invoice_id', 'client_id', 'payee_id', 'amount_minor', 'currency', 'status']
  .concat('released_at', 'created_at')
  .map((column) => `p.${column}`)
  .join(', ');

/** Index api_keys_by_hash, then the primary key of payments. */
const readPayment = {
  name: 'read-payment',
  text: `select k.scopes, k.revoked_at, k.expires_at, ${columns}
         from api_keys k left join payments p on p.workspace_id = k.workspace_id and p.id = $2
         where k.hash = $1`,
};

/** Index api_keys_by_hash, then the primary key of payments backwards from the cursor: a page costs the same however far back. */
const listPayments = {
  name: 'list-payments',
  text: `select k.scopes, k.revoked_at, k.expires_at, ${columns}
         from api_keys k left join lateral (
           select * from payments where workspace_id = k.workspace_id and id < $2 order by id desc limit $3
         ) p on true
         where k.hash = $1`,
};
const PAST_EVERY_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function findPayment(pool: pg.Pool, header: string | undefined, publicId: string): Promise<Record<string, unknown> | Refusal> {
  const hash = hashOfKey(header);
  if (hash === null) return [401, 'missing_api_key'];
  const id = decodeId('payment', publicId);
  if (id === null) return [404, 'not_found'];
  const { rows } = await pool.query<Key & PaymentRow>({ ...readPayment, values: [hash, id] });
  const [row] = rows;
  const refusal = refusalOf(row, 'payments:read');
  if (refusal !== null) return refusal;
  return row === undefined || row.id === null ? [404, 'not_found'] : presentPayment(row);
}

interface ListQuery {
  readonly limit: number;
  readonly starting_after?: string;
}

async function findPage(pool: pg.Pool, header: string | undefined, query: ListQuery): Promise<Record<string, unknown> | Refusal> {
  const hash = hashOfKey(header);
  if (hash === null) return [401, 'missing_api_key'];
  const after = query.starting_after === undefined ? PAST_EVERY_ID : decodeId('payment', query.starting_after);
  if (after === null) return [422, 'validation_failed'];
  // One more is read to learn whether there is another page.
  const { rows } = await pool.query<Key & PaymentRow>({ ...listPayments, values: [hash, after, query.limit + 1] });
  const refusal = refusalOf(rows[0], 'payments:read');
  if (refusal !== null) return refusal;
  // A key without a payment is a row, too: of the key alone.
  const found = rows[0]?.id === null ? [] : rows;
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  const hasMore = found.length > query.limit;
  return {
    object: 'list',
    data: page.map(presentPayment),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? encodeId('payment', last.id) : null,
  };
}

const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, starting_after: { type: 'string' } },
} as const;

const isRefusal = (outcome: Record<string, unknown> | Refusal): outcome is Refusal => Array.isArray(outcome);

export function mountReads(app: FastifyInstance, pool: pg.Pool): void {
  app.get<{ Params: { id: string } }>(
    '/v1/payments/:id',
    { schema: { response: { 200: paymentAnswer, '4xx': problemAnswer } } },
    async (request, reply) => {
      const outcome = await findPayment(pool, request.headers.authorization, request.params.id);
      return isRefusal(outcome) ? refuse(reply, outcome) : outcome;
    },
  );
  app.get<{ Querystring: ListQuery }>(
    '/v1/payments',
    { schema: { querystring: listQuery, response: { 200: paymentPage, '4xx': problemAnswer } } },
    async (request, reply) => {
      const outcome = await findPage(pool, request.headers.authorization, request.query);
      return isRefusal(outcome) ? refuse(reply, outcome) : outcome;
    },
  );
}
