// The NestJS and Drizzle service as a peer: copied out, built, filled by bulk SQL in its own schema, and started.
// The service itself is in nestjs/; nothing of it runs here.

import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Door, openServer } from '../doors.ts';
import type { Shot } from '../load.ts';
import { pick } from '../seed.ts';
import { bodies } from '../works.ts';
import { type Peer, type PeerWorks, runIn, type Stage, startProgram } from './peer.ts';

const source = fileURLToPath(new URL('nestjs', import.meta.url));
const KEYS = 64;
const PROJECTS = 100;
const scopes = ['payments:read', 'projects:write', 'milestones:approve'];

interface Contents {
  readonly workspaceId: string;
  readonly keys: readonly string[];
  readonly projectIds: readonly string[];
  readonly paymentIds: readonly string[];
}

const milestoneColumns = `workspace_id, project_id, title, description, amount, currency, payee_id, due_date, status, submission, submitted_at`;
/** $1 the workspace, $2 its projects, $3 how many; `status` is one of ours. */
const milestoneRows = (status: 'submitted' | 'approved'): string => `
  select $1, ($2::uuid[])[1 + n % array_length($2::uuid[], 1)], 'Design', 'Three drafts, one of them worked out.', 150000, 'USD', 'freelancer_7',
    '2026-12-31', '${status}', '{"note":"All three drafts are in the folder.","links":["https://files.example.com/drafts"]}', now()
  from generate_series(1, $3::int) n`;

async function fill(door: Door, rows: number): Promise<Contents> {
  await door.query(readFileSync(join(source, 'src/database/schema.sql'), 'utf8'));
  const [workspace] = await door.query<{ id: string }>(`insert into workspaces (name, invoice_number) values ('bench', $1) returning id`, [
    rows,
  ]);
  const workspaceId = workspace?.id as string;
  const keys = Array.from({ length: KEYS }, () => `key_${randomBytes(24).toString('hex')}`);
  const hashes = keys.map((key) => createHash('sha256').update(key).digest('hex'));
  await door.query('insert into api_keys (workspace_id, hash, scopes) select $1, hash, $3 from unnest($2::text[]) hash', [
    workspaceId,
    hashes,
    scopes,
  ]);
  const projects = await door.query<{ id: string }>(
    `insert into projects (workspace_id, name, client_id, payee_id) select $1, 'Website ' || n, 'client_' || n, 'freelancer_7'
     from generate_series(1, ${PROJECTS}) n returning id`,
    [workspaceId],
  );
  const projectIds = projects.map(({ id }) => id);
  const payments = await door.query<{ id: string }>(
    `with m as (insert into milestones (${milestoneColumns}) ${milestoneRows('approved')} returning id, project_id),
       i as (insert into invoices (workspace_id, number, project_id, milestone_id, total, currency, status)
         select $1, row_number() over (), project_id, id, 150000, 'USD', 'paid' from m returning id, project_id, milestone_id)
     insert into payments (workspace_id, project_id, milestone_id, invoice_id, client_id, payee_id, amount, currency, status, released_at)
     select $1, project_id, milestone_id, id, 'client_1', 'freelancer_7', 150000, 'USD', 'released', now() from i returning id`,
    [workspaceId, projectIds, rows],
  );
  await door.query('vacuum analyze');
  return { workspaceId, keys, projectIds, paymentIds: payments.map(({ id }) => id) };
}

function worksOf({ workspaceId, keys, projectIds, paymentIds }: Contents, server: PeerWorks['server']): PeerWorks {
  return {
    server,
    paymentsTable: 'payments',
    reads: () => paymentIds.map((id, i): Shot => ({ method: 'GET', path: `/v1/payments/${id}`, key: pick(keys, i) })),
    creates: () => keys.map((key): Shot => ({ method: 'POST', path: '/v1/projects', key, body: bodies.create })),
    async approvals(door, count) {
      const text = `insert into milestones (${milestoneColumns}) ${milestoneRows('submitted')} returning id`;
      const made = await door.query<{ id: string }>(text, [workspaceId, projectIds, count]);
      return made.map(({ id }, i): Shot => ({ method: 'PATCH', path: `/v1/milestones/${id}`, key: pick(keys, i), body: bodies.approve }));
    },
  };
}

export const nestjs: Peer = {
  name: 'nestjs',
  versions: 'NestJS 12.5.1 on Express, Drizzle 0.45.4, pg 8.23.1',
  async install(folder) {
    // The source is copied each time, so that what is measured is what stands here; packages are kept while the lock file is the same.
    const lock = join(folder, 'package-lock.json');
    const isSame =
      existsSync(join(folder, 'node_modules')) && readFileSync(lock, 'utf8') === readFileSync(join(source, 'package-lock.json'), 'utf8');
    cpSync(source, folder, { recursive: true });
    if (!isSame) await runIn(folder, 'npm', ['ci', '--no-audit', '--no-fund']);
    await runIn(folder, 'npm', ['run', 'build']);
  },
  async start({ folder, databaseUrl, rows, onEnd }: Stage) {
    const door = await openServer(databaseUrl);
    const contents = await fill(door, rows);
    await door.close();
    const server = await startProgram({
      name: 'nestjs',
      folder,
      parameters: ['dist/main.js'],
      environment: { DATABASE_URL: databaseUrl, POOL_SIZE: '10' },
      readyPath: '/',
    });
    onEnd(() => server.stop());
    return worksOf(contents, server);
  },
};
