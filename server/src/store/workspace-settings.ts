// Every SQL statement on the settings of workspaces and on the letterheads that issued invoices keep.
// Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Logo, LogoType } from '../domain/logo.ts';
import type { Letterhead, SettingsChange, WorkspaceSettings } from '../domain/workspace.ts';
import type { Queryable } from './database.ts';
import type { Write } from './tables.ts';

interface LetterheadRow {
  name: string;
  legal_name: string | null;
  address_lines: string[];
  tax_id: string | null;
  invoice_prefix: string;
  tax_line: string | null;
  timezone: string;
  hash: Buffer | null;
  content_type: LogoType;
  width: number;
  height: number;
  data: Buffer;
}

interface SettingsRow extends LetterheadRow {
  id: Uuid;
  default_currency: string;
  version: number;
  created_at: Date;
  updated_at: Date;
}

function letterheadFrom(row: LetterheadRow): Letterhead {
  const { hash, content_type: contentType, width, height, data } = row;
  const logo: Logo | null = hash === null ? null : { hash, contentType, width, height, data };
  return {
    name: row.name,
    legalName: row.legal_name,
    addressLines: row.address_lines,
    taxId: row.tax_id,
    logo,
    invoicePrefix: row.invoice_prefix,
    taxLine: row.tax_line,
    timezone: row.timezone,
  };
}

const letterheadColumns = (alias: string): string =>
  `${alias}.name, ${alias}.legal_name, ${alias}.address_lines, ${alias}.tax_id, ${alias}.invoice_prefix, ${alias}.tax_line, ${alias}.timezone`;
const LOGO_COLUMNS = 'l.hash, l.content_type, l.width, l.height, l.data';

/** The settings of workspaces: primary keys of workspaces and workspace_logos. */
export async function loadSettings(queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<WorkspaceSettings[]> {
  const rows = await queryable.query<SettingsRow>(
    `select w.id, ${letterheadColumns('w')}, w.default_currency, w.version, w.created_at,
       coalesce(w.updated_at, w.created_at) as updated_at, ${LOGO_COLUMNS}
     from workspaces w left join workspace_logos l on l.workspace_id = w.id and l.hash = w.logo_hash
     where w.id = any($1::uuid[])`,
    [workspaceIds],
  );
  return rows.map((row) => ({
    ...letterheadFrom(row),
    id: row.id,
    defaultCurrency: row.default_currency,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** In which zone the days of a workspace begin; null where there is no such workspace. Primary key. */
export async function findTimezone(queryable: Queryable, workspaceId: Uuid): Promise<string | null> {
  const rows = await queryable.query<{ timezone: string }>('select timezone from workspaces where id = $1', [workspaceId]);
  return rows[0]?.timezone ?? null;
}

/**
 * The letterhead under which an invoice was issued: the earliest that went out of use with this number or a later one, found along the
 * primary key (workspace_id, last_number); or else the present one.
 */
export async function findLetterhead(queryable: Queryable, workspaceId: Uuid, number: number): Promise<Letterhead | null> {
  const rows = await queryable.query<LetterheadRow>(
    `with outgoing as (
       select * from workspace_letterheads where workspace_id = $1 and last_number >= $2 order by last_number limit 1
     ), letterhead as (
       select ${letterheadColumns('o')}, o.logo_hash from outgoing o
       union all
       select ${letterheadColumns('w')}, w.logo_hash from workspaces w where w.id = $1 and not exists (select from outgoing)
     )
     select ${letterheadColumns('h')}, ${LOGO_COLUMNS}
     from letterhead h left join workspace_logos l on l.workspace_id = $1 and l.hash = h.logo_hash`,
    [workspaceId, number],
  );
  return rows[0] === undefined ? null : letterheadFrom(rows[0]);
}

/** What the number of the invoice in `t` begins with: look-ups as above, once a row. */
export const PREFIX_OF_INVOICE = `coalesce(
  (select h.invoice_prefix from workspace_letterheads h
   where h.workspace_id = t.workspace_id and h.last_number >= t.number order by h.last_number limit 1),
  (select w.invoice_prefix from workspaces w where w.id = t.workspace_id))`;

/**
 * The statements of what a batch changed in settings, under the heads' locks. Of a workspace that was changed several times the last state
 * counts; letterheads in between governed no invoice and meet the primary key of the first.
 */
export function settingsWrites(changes: readonly SettingsChange[]): Write[] {
  const last = new Map(changes.map(({ settings }) => [settings.id, settings]));
  const logos = changes.flatMap(({ settings }) => (settings.logo === null ? [] : [insertLogo(settings.id, settings.logo)]));
  const letterheads = changes.flatMap(({ settings, outgoing }) =>
    outgoing === null ? [] : [insertLetterhead(settings.id, outgoing.letterhead, outgoing.lastNumber, settings.updatedAt)],
  );
  return [...logos, ...letterheads, ...Array.from(last.values(), updateSettings)];
}

function insertLogo(workspaceId: Uuid, logo: Logo): Write {
  return {
    text: `
      insert into workspace_logos (workspace_id, hash, content_type, width, height, data)
      values ($1::uuid, $2::bytea, $3::text, $4::integer, $5::integer, $6::bytea) on conflict do nothing`,
    parameters: [workspaceId, logo.hash, logo.contentType, logo.width, logo.height, logo.data],
  };
}

function insertLetterhead(workspaceId: Uuid, letterhead: Letterhead, lastNumber: number, replacedAt: Date): Write {
  return {
    text: `
      insert into workspace_letterheads
        (workspace_id, last_number, name, legal_name, address_lines, tax_id, logo_hash, invoice_prefix, tax_line, timezone, replaced_at)
      values ($1::uuid, $2::bigint, $3::text, $4::text, $5::text[], $6::text, $7::bytea, $8::text, $9::text, $10::text, $11::timestamptz)
      on conflict do nothing`,
    parameters: [workspaceId, lastNumber, ...letterheadValues(letterhead), replacedAt],
  };
}

function updateSettings(settings: WorkspaceSettings): Write {
  return {
    text: `
      update workspaces set name = $2::text, legal_name = $3::text, address_lines = $4::text[], tax_id = $5::text, logo_hash = $6::bytea,
        invoice_prefix = $7::text, tax_line = $8::text, timezone = $9::text, default_currency = $10::text, version = $11::integer,
        updated_at = $12::timestamptz
      where id = $1::uuid`,
    parameters: [settings.id, ...letterheadValues(settings), settings.defaultCurrency, settings.version, settings.updatedAt],
  };
}

const letterheadValues = (letterhead: Letterhead): unknown[] => [
  letterhead.name,
  letterhead.legalName,
  letterhead.addressLines,
  letterhead.taxId,
  letterhead.logo?.hash ?? null,
  letterhead.invoicePrefix,
  letterhead.taxLine,
  letterhead.timezone,
];
