// Strapi as a peer: its project copied out, installed from its packages, filled by bulk SQL as Strapi would have written it, and started.
// The project is in strapi/; everything that is measured goes through its REST API.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Door, openServer } from '../doors.ts';
import type { Shot } from '../load.ts';
import { type Peer, type PeerWorks, runIn, type Stage, startProgram } from './peer.ts';

const source = fileURLToPath(new URL('strapi', import.meta.url));
const VERSION = '5.54.0';
const PROJECTS = 100;

/** Twenty-four letters and digits, as Strapi's own ids of documents are. */
const documentId = (of: string): string => `'bench' || lpad(${of}::text, 19, '0')`;

/** $1 how many, $2 the highest id before; each belongs to one of the first projects. */
const milestonesText = (state: string): string => `
  with m as (
    insert into milestones (document_id, title, description, amount, currency, payee_id, due_date, state, created_at, updated_at, published_at)
    select ${documentId('($2::int + n)')}, 'Design', 'Three drafts.', 150000, 'USD', 'freelancer_7', '2026-12-31', '${state}', now(), now(), now()
    from generate_series(1, $1::int) n returning id, document_id),
  linked as (
    insert into milestones_project_lnk (milestone_id, project_id, milestone_ord) select id, 1 + id % ${PROJECTS}, id from m)
  select id, document_id from m`;

interface Row {
  readonly id: number;
  readonly document_id: string;
}

async function fill(door: Door, rows: number): Promise<string[]> {
  // The counter of the invoices, as a team would keep it; numbers without a gap need a row that is locked.
  await door.query('create table invoice_counter (last bigint not null)');
  await door.query('insert into invoice_counter values ($1)', [rows]);
  const common = 'now(), now(), now()';
  await door.query(
    `insert into projects (document_id, name, client_id, payee_id, created_at, updated_at, published_at)
     select ${documentId('n')}, 'Website', 'client_1', 'freelancer_7', ${common} from generate_series(1, ${PROJECTS}) n`,
  );
  await door.query(milestonesText('approved'), [rows, 0]);
  await door.query(
    `with i as (
       insert into invoices (document_id, number, total, currency, state, created_at, updated_at, published_at)
       select document_id, id, 150000, 'USD', 'paid', ${common} from milestones returning id)
     insert into invoices_milestone_lnk (invoice_id, milestone_id) select id, id from i`,
  );
  const payments = await door.query<Row>(
    `insert into payments (document_id, amount, currency, client_id, payee_id, state, released_at, created_at, updated_at, published_at)
     select document_id, 150000, 'USD', 'client_1', 'freelancer_7', 'released', now(), ${common} from milestones returning id, document_id`,
  );
  await door.query('insert into payments_milestone_lnk (payment_id, milestone_id) select id, id from payments');
  await door.query('insert into payments_invoice_lnk (payment_id, invoice_id) select id, id from payments');
  await door.query('vacuum analyze');
  return payments.map((payment) => payment.document_id);
}

const milestones = ['Design', 'Prototype', 'Build', 'Launch', 'Handover'].map((title, i) => {
  return { title, amount: 50_000 * (i + 1), currency: 'USD', due_date: '2026-12-31', description: 'As agreed in the offer.' };
});
const project = { name: 'New website', client_id: 'client_42', payee_id: 'freelancer_7', metadata: { order: 'A-1001' }, milestones };

async function approvals(door: Door, count: number, key: string): Promise<Shot[]> {
  const [last] = await door.query<{ id: number }>('select coalesce(max(id), 0)::int as id from milestones');
  const made = await door.query<Row>(milestonesText('submitted'), [count, last?.id ?? 0]);
  return made.map(
    (row): Shot => ({ method: 'PUT', path: `/api/milestones/${row.document_id}`, key, body: '{"data":{"state":"approved"}}' }),
  );
}

export const strapi: Peer = {
  name: 'strapi',
  versions: `Strapi ${VERSION}`,
  async install(folder) {
    cpSync(source, folder, { recursive: true });
    mkdirSync(join(folder, 'public/uploads'), { recursive: true });
    if (!existsSync(join(folder, 'node_modules/@strapi/strapi/bin/strapi.js')))
      await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund']);
  },
  async start({ folder, databaseUrl, rows, onEnd }: Stage): Promise<PeerWorks> {
    const tokenFile = join(folder, 'token');
    const server = await startProgram({
      name: 'strapi',
      folder,
      parameters: ['node_modules/@strapi/strapi/bin/strapi.js', 'start'],
      environment: { DATABASE_URL: databaseUrl, POOL_SIZE: '10', TOKEN_FILE: tokenFile, STRAPI_TELEMETRY_DISABLED: 'true' },
      readyPath: '/_health',
    });
    onEnd(() => server.stop());
    const key = readFileSync(tokenFile, 'utf8');
    rmSync(tokenFile);
    const door = await openServer(databaseUrl);
    const paymentIds = await fill(door, rows);
    await door.close();
    return {
      server,
      paymentsTable: 'payments',
      reads: () => paymentIds.map((id): Shot => ({ method: 'GET', path: `/api/payments/${id}`, key })),
      creates: () => [{ method: 'POST', path: '/api/projects', key, body: JSON.stringify({ data: project }) }],
      approvals: (into, count) => approvals(into, count, key),
    };
  },
};
