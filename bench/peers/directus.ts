// Directus as a peer: installed from its package, three collections made through its API, approval in a hook of its own kind.
// Filled by bulk SQL; everything that is measured goes through its REST API.

import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Door, openServer } from '../doors.ts';
import type { Shot } from '../load.ts';
import { type Peer, type PeerWorks, runIn, type Stage, startProgram } from './peer.ts';

const VERSION = '12.4.0';
const TOKEN = 'bench_token_0123456789abcdef';
const PROJECTS = 100;
const POOL_SIZE = '10';
const hook = fileURLToPath(new URL('directus-hook', import.meta.url));

const manifest = {
  name: 'tranche-bench-directus',
  private: true,
  dependencies: { directus: VERSION },
  // The sandbox for scripts of users has to be compiled, and nothing that is measured comes near it.
  overrides: { 'isolated-vm': 'file:./no-sandbox' },
};

function environmentOf(databaseUrl: string): Record<string, string> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl);
  return {
    HOST: '127.0.0.1',
    KEY: 'bench',
    SECRET: 'bench_secret_0123456789abcdef0123',
    DB_CLIENT: 'pg',
    DB_HOST: hostname,
    DB_PORT: port,
    DB_DATABASE: pathname.slice(1),
    DB_USER: username,
    DB_PASSWORD: password === '' ? 'none' : password,
    DB_POOL__MIN: POOL_SIZE,
    DB_POOL__MAX: POOL_SIZE,
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: 'bench_password_1',
    ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: 'silent',
    TELEMETRY: 'false',
    CACHE_ENABLED: 'false',
    RATE_LIMITER_ENABLED: 'false',
    // It would answer 503 under the load of the benchmark.
    PRESSURE_LIMITER_ENABLED: 'false',
  };
}

interface Field {
  readonly field: string;
  readonly type: string;
  readonly meta?: object;
  readonly schema?: object;
}

const plain = (field: string, type: string): Field => ({ field, type, schema: {}, meta: {} });
const id: Field = {
  field: 'id',
  type: 'uuid',
  meta: { special: ['uuid'], hidden: true, readonly: true },
  schema: { is_primary_key: true, has_auto_increment: false },
};
const createdAt: Field = { field: 'created_at', type: 'timestamp', meta: { special: ['date-created'] }, schema: {} };
const linkTo = (field: string): Field => ({
  field,
  type: 'uuid',
  schema: {},
  meta: { special: ['m2o'], interface: 'select-dropdown-m2o' },
});

const collections: Readonly<Record<string, readonly Field[]>> = {
  projects: [
    plain('name', 'string'),
    plain('client_id', 'string'),
    plain('payee_id', 'string'),
    { field: 'metadata', type: 'json', schema: {}, meta: { special: ['cast-json'] } },
  ],
  milestones: [
    linkTo('project'),
    ...['title', 'description', 'currency', 'payee_id', 'status'].map((field) => plain(field, 'string')),
    plain('amount', 'bigInteger'),
    plain('due_date', 'date'),
    plain('approved_at', 'timestamp'),
  ],
  invoices: [
    plain('number', 'bigInteger'),
    linkTo('milestone'),
    plain('total', 'bigInteger'),
    plain('currency', 'string'),
    plain('status', 'string'),
  ],
  payments: [
    linkTo('project'),
    linkTo('milestone'),
    linkTo('invoice'),
    ...['client_id', 'payee_id', 'currency', 'status'].map((field) => plain(field, 'string')),
    plain('amount', 'bigInteger'),
    plain('released_at', 'timestamp'),
  ],
  events: [plain('type', 'string'), { field: 'data', type: 'json', schema: {}, meta: { special: ['cast-json'] } }],
};

const links = [
  { collection: 'milestones', field: 'project', related_collection: 'projects', meta: { one_field: 'milestones' }, schema: {} },
  { collection: 'invoices', field: 'milestone', related_collection: 'milestones', schema: {} },
  { collection: 'payments', field: 'project', related_collection: 'projects', schema: {} },
  { collection: 'payments', field: 'milestone', related_collection: 'milestones', schema: {} },
  { collection: 'payments', field: 'invoice', related_collection: 'invoices', schema: {} },
];

async function post(port: number, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`directus: POST ${path} answered ${answer.status}: ${await answer.text()}`);
}

async function makeCollections(port: number): Promise<void> {
  for (const [collection, fields] of Object.entries(collections)) {
    await post(port, '/collections', { collection, meta: {}, schema: {}, fields: [id, ...fields, createdAt] });
  }
  await post(port, '/fields/projects', { field: 'milestones', type: 'alias', meta: { special: ['o2m'], interface: 'list-o2m' } });
  for (const link of links) await post(port, '/relations', link);
}

const milestonesText = (status: string): string => `
  insert into milestones (id, project, title, description, amount, currency, payee_id, due_date, status, created_at)
  select gen_random_uuid(), ($1::uuid[])[1 + n % array_length($1::uuid[], 1)], 'Design', 'Three drafts.', 150000, 'USD', 'freelancer_7', '2026-12-31', '${status}', now()
  from generate_series(1, $2::int) n returning id`;

async function fill(door: Door, rows: number): Promise<{ projectIds: string[]; paymentIds: string[] }> {
  // The counter of the invoices, as a team would keep it; numbers without a gap need a row that is locked.
  await door.query('create table invoice_counter (last bigint not null)');
  await door.query('insert into invoice_counter values ($1)', [rows]);
  const projectIds = Array.from({ length: PROJECTS }, () => randomUUID());
  await door.query(
    `insert into projects (id, name, client_id, payee_id, created_at) select id, 'Website', 'client_1', 'freelancer_7', now() from unnest($1::uuid[]) id`,
    [projectIds],
  );
  const payments = await door.query<{ id: string }>(
    `with m as (${milestonesText('approved')}, project),
       i as (insert into invoices (id, number, milestone, total, currency, status, created_at)
         select gen_random_uuid(), row_number() over (), id, 150000, 'USD', 'paid', now() from m returning id, milestone)
     insert into payments (id, project, milestone, invoice, client_id, payee_id, amount, currency, status, released_at, created_at)
     select gen_random_uuid(), m.project, m.id, i.id, 'client_1', 'freelancer_7', 150000, 'USD', 'released', now(), now()
     from i join m on m.id = i.milestone returning id`,
    [projectIds, rows],
  );
  await door.query('vacuum analyze');
  return { projectIds, paymentIds: payments.map((payment) => payment.id) };
}

const milestones = ['Design', 'Prototype', 'Build', 'Launch', 'Handover'].map((title, i) => {
  return {
    title,
    amount: 50_000 * (i + 1),
    currency: 'USD',
    due_date: '2026-12-31',
    description: 'As agreed in the offer.',
    status: 'pending',
  };
});
const project = { name: 'New website', client_id: 'client_42', payee_id: 'freelancer_7', metadata: { order: 'A-1001' }, milestones };

export const directus: Peer = {
  name: 'directus',
  versions: `Directus ${VERSION}`,
  async install(folder) {
    mkdirSync(join(folder, 'no-sandbox'), { recursive: true });
    writeFileSync(join(folder, 'no-sandbox/package.json'), JSON.stringify({ name: 'isolated-vm', version: '5.0.3', main: 'index.js' }));
    writeFileSync(join(folder, 'no-sandbox/index.js'), 'module.exports = {};\n');
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
    cpSync(hook, join(folder, 'extensions/approval'), { recursive: true });
    if (!existsSync(join(folder, 'node_modules/directus/cli.js')))
      await runIn(folder, 'npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts']);
  },
  async start({ folder, databaseUrl, rows, onEnd }: Stage): Promise<PeerWorks> {
    const environment = environmentOf(databaseUrl);
    await runIn(folder, process.execPath, ['node_modules/directus/cli.js', 'bootstrap'], { ...environment, NODE_ENV: 'production' });
    const program = {
      name: 'directus',
      folder,
      parameters: ['node_modules/directus/cli.js', 'start'],
      environment,
      readyPath: '/server/ping',
    };
    const server = await startProgram(program);
    onEnd(() => server.stop());
    await makeCollections(server.port);
    const door = await openServer(databaseUrl);
    const { projectIds, paymentIds } = await fill(door, rows);
    await door.close();
    return {
      server,
      paymentsTable: 'payments',
      reads: () => paymentIds.map((payment): Shot => ({ method: 'GET', path: `/items/payments/${payment}`, key: TOKEN })),
      creates: () => [{ method: 'POST', path: '/items/projects', key: TOKEN, body: JSON.stringify(project) }],
      async approvals(into, count) {
        const made = await into.query<{ id: string }>(milestonesText('submitted'), [projectIds, count]);
        return made.map(
          (row): Shot => ({ method: 'PATCH', path: `/items/milestones/${row.id}`, key: TOKEN, body: '{"status":"approved"}' }),
        );
      },
    };
  },
};
