// Every SQL statement on workspaces themselves. They are made outside the lane, since there is no head yet to lock.

import { type ApiKey, entryOfStart } from '../domain/api-key.ts';
import { type AuditEntry, changesBetween } from '../domain/audit.ts';
import type { Workspace } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Member } from '../domain/member.ts';
import type { Membership, Origin, Person } from '../domain/person.ts';
import { DEFAULT_INVOICE_PREFIX } from '../domain/workspace.ts';
import { apiKeyTable } from './api-keys.ts';
import { auditEntryTable } from './audit-entries.ts';
import type { Database, Queryable } from './database.ts';
import { memberTable } from './members.ts';
import { lockSession } from './sessions.ts';
import { insertRows } from './tables.ts';

interface WorkspaceRow {
  id: Uuid;
  name: string;
  default_currency: string;
  invoice_prefix: string;
  created_at: Date;
  closed_at: Date | null;
}

const fromRow = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  name: row.name,
  defaultCurrency: row.default_currency,
  invoicePrefix: row.invoice_prefix,
  createdAt: row.created_at,
  closedAt: row.closed_at,
});

/** Any number that nothing else in the database uses: processes that start at once set up one after the other. */
const SETUP_LOCK = 7_265_001;

/** The oldest workspace is the default one; null on an empty database. Primary key order, UUIDv7 being ordered by creation. */
export async function findDefaultWorkspace(queryable: Queryable): Promise<Workspace | null> {
  const rows = await queryable.query<WorkspaceRow>(
    'select id, name, default_currency, invoice_prefix, created_at, closed_at from workspaces order by id limit 1',
  );
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/** A workspace that is being made; what it does not name has the defaults of the table. */
export type NewWorkspace = Omit<Workspace, 'closedAt' | 'invoicePrefix'>;

export async function insertWorkspace(transaction: Queryable, workspace: NewWorkspace, genesisHash: Buffer): Promise<void> {
  await transaction.query('insert into workspaces (id, name, default_currency, created_at) values ($1, $2, $3, $4)', [
    workspace.id,
    workspace.name,
    workspace.defaultCurrency,
    workspace.createdAt,
  ]);
  await transaction.query('insert into workspace_heads (workspace_id, event_hash, last_time) values ($1, $2, $3)', [
    workspace.id,
    genesisHash,
    workspace.createdAt,
  ]);
}

export interface Setup {
  /** Made where the database has no workspace yet. */
  readonly workspace: NewWorkspace;
  readonly genesisHash: Buffer;
  /** Made together with the first workspace, so that exactly one process of several has a first key to show. */
  readonly firstKey: (workspaceId: Uuid) => ApiKey;
  /** Made in the default workspace where no key with its hash exists. */
  readonly configuredKey: ((workspaceId: Uuid) => ApiKey) | null;
  readonly newId: () => Uuid;
}

export interface SetupResult {
  readonly workspace: NewWorkspace;
  /** Whether an owner has closed it. */
  readonly isClosed: boolean;
  readonly madeFirstKey: boolean;
  /** The configured key as it stands in the database. */
  readonly configuredKey: ApiKey | null;
}

/** Makes the default workspace and the keys a start asks for, where they are missing: one transaction under an advisory lock. */
export function setUpWorkspace(database: Database, setup: Setup): Promise<SetupResult> {
  return database.transaction(async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [SETUP_LOCK]);
    const found = await findDefaultWorkspace(transaction);
    const workspace = found ?? setup.workspace;
    const madeFirstKey = found === null && setup.configuredKey === null;
    if (found === null) await insertWorkspace(transaction, workspace, setup.genesisHash);
    const insertKey = async (key: ApiKey): Promise<void> => {
      await insertRows(transaction, apiKeyTable, [key]);
      await insertRows(transaction, auditEntryTable, [entryOfStart(key, setup.newId())]);
    };
    if (madeFirstKey) await insertKey(setup.firstKey(workspace.id));
    let configuredKey: ApiKey | null = null;
    if (setup.configuredKey !== null) {
      const wanted = setup.configuredKey(workspace.id);
      // Index api_keys_by_hash.
      const rows = await transaction.query<Record<string, unknown>>(`select ${apiKeyTable.select('k')} from api_keys k where k.hash = $1`, [
        wanted.hash,
      ]);
      configuredKey = rows[0] === undefined ? wanted : apiKeyTable.fromRow(rows[0]);
      if (rows[0] === undefined) await insertKey(wanted);
    }
    return { workspace, isClosed: found !== null && found.closedAt !== null, madeFirstKey, configuredKey };
  });
}

/** Primary key. */
export async function findWorkspaceName(queryable: Queryable, id: Uuid): Promise<string> {
  const [row] = await queryable.query<{ name: string }>('select name from workspaces where id = $1', [id]);
  if (row === undefined) throw new Error(`there is no workspace ${id}`);
  return row.name;
}

/** What one person may own; each costs the others a little. */
const MAX_OWNED = 50;

export interface OwnedWorkspace {
  readonly name: string;
  readonly person: Pick<Person, 'id' | 'name'>;
  /** The session that the person calls with. */
  readonly sessionId: Uuid;
  readonly origin: Origin;
  readonly now: Date;
  readonly newId: () => Uuid;
  readonly genesisHash: Buffer;
  /** Whether the person has to own a workspace already. */
  readonly ownersOnly: boolean;
}

/** Why a person makes no further workspace: the session has ended, they own none where only owners may, or as many as one may have. */
export type NoWorkspace = 'session_ended' | 'owns_none' | 'owns_too_many';

/**
 * Makes a workspace with its owner and the beginning of its audit log, in one transaction, or says why not. The row of the person is locked
 * meanwhile, so that many at once are counted one after the other. Primary key, index members_by_person.
 */
export function createOwnedWorkspace(database: Database, wanted: OwnedWorkspace): Promise<Membership | NoWorkspace> {
  const { name, person, sessionId, origin, now, newId, genesisHash, ownersOnly } = wanted;
  return database.transaction(async (transaction) => {
    await transaction.query('select 1 from identity_users where id = $1 for update', [person.id]);
    if (!(await lockSession(transaction, person.id, sessionId))) return 'session_ended';
    const [owned] = await transaction.query<{ count: number }>(
      `select count(*)::integer as count from members where person_id = $1 and role = 'owner' and removed_at is null`,
      [person.id],
    );
    const count = owned?.count ?? 0;
    if (ownersOnly && count === 0) return 'owns_none';
    if (count >= MAX_OWNED) return 'owns_too_many';
    const workspace = { id: newId(), name, defaultCurrency: 'USD', invoicePrefix: DEFAULT_INVOICE_PREFIX, createdAt: now };
    await insertWorkspace(transaction, workspace, genesisHash);
    const member: Member = {
      id: newId(),
      workspaceId: workspace.id,
      personId: person.id,
      role: 'owner',
      createdAt: now,
      updatedAt: now,
      removedAt: null,
    };
    await insertRows(transaction, memberTable, [member]);
    const entry = (
      action: AuditEntry['action'],
      targetType: AuditEntry['targetType'],
      targetId: Uuid,
      changes: AuditEntry['changes'],
    ): AuditEntry => ({
      id: newId(),
      workspaceId: workspace.id,
      actorType: 'person',
      actorId: person.id,
      actorName: person.name,
      action,
      targetType,
      targetId,
      changes,
      ip: origin.ip,
      userAgent: origin.userAgent,
      createdAt: now,
    });
    await insertRows(transaction, auditEntryTable, [
      entry('workspace.created', 'workspace', workspace.id, changesBetween(null, { name })),
      entry('member.added', 'member', member.id, changesBetween(null, { name: person.name, role: 'owner' })),
    ]);
    return { workspaceId: workspace.id, workspaceName: name, memberId: member.id, role: 'owner', closedAt: null };
  });
}
