// The settings of a workspace: its profile, what its invoices say of it, and the defaults of what is created in it.
// Pure: it is handed the time, and touches nothing outside its arguments.

import { isDeepStrictEqual } from 'node:util';
import { type AuditDraft, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, rejectStale } from './decision.ts';
import { applyFields } from './editing.ts';
import type { Uuid } from './ids.ts';
import type { Logo } from './logo.ts';

/** What an invoice says of who issued it. An issued invoice keeps what stood here then. */
export interface Letterhead {
  readonly name: string;
  readonly legalName: string | null;
  readonly addressLines: readonly string[];
  readonly taxId: string | null;
  readonly logo: Logo | null;
  readonly invoicePrefix: string;
  /** Printed under the total, as it is; nothing is reckoned from it. */
  readonly taxLine: string | null;
  /** A name of the IANA time zone database: in which zone days begin, and so which day an invoice is of. */
  readonly timezone: string;
}

export interface WorkspaceSettings extends Letterhead {
  readonly id: Uuid;
  readonly defaultCurrency: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const DEFAULT_INVOICE_PREFIX = 'INV-';
export const MAX_ADDRESS_LINES = 8;

/** Absent: leave as it is. */
export interface WorkspaceUpdate {
  readonly name?: string | undefined;
  readonly legalName?: string | null | undefined;
  readonly addressLines?: readonly string[] | undefined;
  readonly taxId?: string | null | undefined;
  readonly logo?: Logo | null | undefined;
  readonly invoicePrefix?: string | undefined;
  readonly taxLine?: string | null | undefined;
  readonly defaultCurrency?: string | undefined;
  readonly timezone?: string | undefined;
}

/** What a change of settings writes. */
export interface SettingsChange {
  readonly settings: WorkspaceSettings;
  /** The letterhead until now, and the number of the last invoice that was issued under it; null where it stays. */
  readonly outgoing: { readonly letterhead: Letterhead; readonly lastNumber: number } | null;
}

export const letterheadOf = (settings: WorkspaceSettings): Letterhead => ({
  name: settings.name,
  legalName: settings.legalName,
  addressLines: settings.addressLines,
  taxId: settings.taxId,
  logo: settings.logo,
  invoicePrefix: settings.invoicePrefix,
  taxLine: settings.taxLine,
  timezone: settings.timezone,
});

/** Invoices that exist keep their letterhead and number; the next one takes what is decided here. */
export function decideSettingsUpdate(
  update: WorkspaceUpdate,
  expectedVersion: number | null,
  settings: WorkspaceSettings,
  context: Context,
): Decision<WorkspaceSettings> {
  const stale = rejectStale(expectedVersion, settings.version);
  if (stale !== null) return stale;
  const changed = applyFields(settings, update);
  if (isDeepStrictEqual(changed, settings)) return accept(settings);
  const next: WorkspaceSettings = { ...changed, version: settings.version + 1, updatedAt: context.now };
  const letterhead = letterheadOf(settings);
  const lastNumber = context.nextInvoiceNumber - 1;
  const outgoing = lastNumber === 0 || isDeepStrictEqual(letterhead, letterheadOf(next)) ? null : { letterhead, lastNumber };
  return accept(next, { settings: { settings: next, outgoing }, audit: [auditOf(settings, next)] });
}

/** Of a logo the audit log keeps its hash, and no picture. */
function auditOf(before: WorkspaceSettings, after: WorkspaceSettings): AuditDraft {
  const shown = ({ name, legalName, addressLines, taxId, logo, invoicePrefix, taxLine, defaultCurrency, timezone }: WorkspaceSettings) => ({
    name,
    legal_name: legalName,
    address_lines: addressLines,
    tax_id: taxId,
    logo: logo === null ? null : `sha256:${logo.hash.toString('hex')}`,
    invoice_prefix: invoicePrefix,
    tax_line: taxLine,
    default_currency: defaultCurrency,
    timezone,
  });
  return { action: 'workspace.updated', target: { type: 'workspace', id: after.id }, changes: changesBetween(shown(before), shown(after)) };
}
