// What the routes of the dashboard need from the database and its neighbours, as functions that speak of the domain.
// Decides nothing and knows no request.

import type { InvoiceDocument } from '../documents/invoice-page.ts';
import type { Uuid } from '../domain/ids.ts';
import type { IssuedInvoice } from '../domain/invoice.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { RequestLogEntry } from '../domain/request-log.ts';
import { dayOf, monthsUntil } from '../domain/time-zone.ts';
import type { InvoiceTotals, MonthTotals, PaymentTotals, ProjectTotals } from '../domain/totals.ts';
import type { WorkspaceSettings } from '../domain/workspace.ts';
import { OVERVIEW_MONTHS, OVERVIEW_RECORDS, type Overview } from '../schemas/overview.ts';
import type { Usage } from '../schemas/request-log.ts';
import { createByIdReader } from '../store/by-id.ts';
import type { Queryable } from '../store/database.ts';
import { type InvoiceFilters, invoiceSource, sumInvoices } from '../store/invoices.ts';
import { findKeyUsage } from '../store/key-usage.ts';
import type { Page, PageRequest, TimeRange } from '../store/lists.ts';
import { listAllMilestones, type WorkspaceMilestoneFilters } from '../store/milestones.ts';
import { findAwaitingApproval, findLatestSeq, findOverdue } from '../store/overview.ts';
import { type PaymentFilters, sumPayments } from '../store/payments.ts';
import { sumProject } from '../store/projects.ts';
import { foldReleases, sumReleases } from '../store/release-months.ts';
import { listRequestLog, type RequestLogFilters } from '../store/request-log.ts';
import { findFailingEndpoints } from '../store/webhook-endpoints.ts';
import { findLetterhead, findTimezone, loadSettings } from '../store/workspace-settings.ts';
import type { OpenExport } from './csv-export.ts';
import type { DrawInvoice } from './invoice-drawing.ts';
import { createReleaseMonths } from './release-months.ts';

export interface DashboardReads {
  readonly getSettings: (workspaceId: Uuid) => Promise<WorkspaceSettings | null>;
  readonly getOverview: (workspaceId: Uuid) => Promise<Overview | null>;
  readonly listAllMilestones: (workspaceId: Uuid, filters: WorkspaceMilestoneFilters, page: PageRequest) => Promise<Page<Milestone>>;
  readonly sumPayments: (workspaceId: Uuid, filters: PaymentFilters, times: TimeRange) => Promise<PaymentTotals[]>;
  readonly sumInvoices: (workspaceId: Uuid, filters: InvoiceFilters, times: TimeRange) => Promise<InvoiceTotals[]>;
  /** Null: there is no such project. */
  readonly sumProject: (workspaceId: Uuid, projectId: Uuid) => Promise<ProjectTotals[] | null>;
  readonly openExport: OpenExport;
  /** An invoice with the letterhead it was issued under. */
  readonly getInvoiceDocument: (workspaceId: Uuid, id: Uuid) => Promise<(InvoiceDocument & { readonly invoice: IssuedInvoice }) | null>;
  /** The page as a PDF file, or a refusal where too many are asked for at once. */
  readonly drawInvoice: DrawInvoice;
  readonly listRequestLog: (workspaceId: Uuid, filters: RequestLogFilters, page: PageRequest) => Promise<Page<RequestLogEntry>>;
  readonly getUsage: (workspaceId: Uuid) => Promise<Usage>;
}

export interface DashboardServices {
  readonly database: Queryable;
  readonly clock: () => Date;
  readonly openExport: OpenExport;
  readonly drawInvoice: DrawInvoice;
  readonly limitPerMinute: number;
}

const MINUTE_MS = 60_000;
const USAGE_HOURS_MS = 24 * 60 * MINUTE_MS;

/** The composition root calls this once. The clock decides which day and which minute it is. */
export function createDashboardReads({ database, clock, openExport, drawInvoice, limitPerMinute }: DashboardServices): DashboardReads {
  const readInvoice = createByIdReader(database, invoiceSource);
  const releaseMonths = createReleaseMonths({
    sum: (...of) => sumReleases(database, ...of),
    fold: (...of) => foldReleases(database, ...of),
  });

  async function getOverview(workspaceId: Uuid): Promise<Overview | null> {
    const timezone = await findTimezone(database, workspaceId);
    if (timezone === null) return null;
    const now = clock();
    const today = dayOf(now, timezone);
    const months = monthsUntil(now, timezone, OVERVIEW_MONTHS);
    const [awaitingApproval, overdue, failingEndpoints, released, pending, latestEventSeq] = await Promise.all([
      findAwaitingApproval(database, workspaceId, OVERVIEW_RECORDS),
      findOverdue(database, workspaceId, today, OVERVIEW_RECORDS),
      findFailingEndpoints(database, workspaceId, OVERVIEW_RECORDS),
      releaseMonths(workspaceId, months),
      sumPayments(database, workspaceId, { status: 'pending' }, {}),
      findLatestSeq(database, workspaceId),
    ]);
    const totals = addReleased(pending, released);
    return { today, awaitingApproval, overdue, failingEndpoints, months: months.map(({ name }) => name), released, totals, latestEventSeq };
  }

  return {
    async getSettings(workspaceId) {
      const [settings] = await loadSettings(database, [workspaceId]);
      return settings ?? null;
    },
    getOverview,
    listAllMilestones: (...request) => listAllMilestones(database, ...request),
    sumPayments: (...choice) => sumPayments(database, ...choice),
    sumInvoices: (...choice) => sumInvoices(database, ...choice),
    sumProject: (...of) => sumProject(database, ...of),
    openExport,
    async getInvoiceDocument(workspaceId, id) {
      const invoice = await readInvoice(workspaceId, id);
      if (invoice === null) return null;
      const letterhead = await findLetterhead(database, workspaceId, invoice.number);
      return letterhead === null ? null : { invoice, letterhead };
    },
    drawInvoice,
    listRequestLog: (...request) => listRequestLog(database, ...request),
    async getUsage(workspaceId) {
      const now = clock();
      const minute = Math.floor(now.getTime() / MINUTE_MS);
      const keys = await findKeyUsage(database, workspaceId, minute, new Date(now.getTime() - USAGE_HOURS_MS));
      return { limit: limitPerMinute, minute: new Date(minute * MINUTE_MS), keys };
    },
  };
}

const NOTHING = { count: 0, amount: 0n };

/** What waits, and what was released in the months, currency by currency. */
function addReleased(pending: readonly PaymentTotals[], released: readonly MonthTotals[]): PaymentTotals[] {
  const waiting = new Map(pending.map((totals) => [totals.currency, totals.pending]));
  const byCurrency = Map.groupBy(released, ({ currency }) => currency);
  return [...new Set([...waiting.keys(), ...byCurrency.keys()])].sort().map((currency) => ({
    currency,
    pending: waiting.get(currency) ?? NOTHING,
    released: (byCurrency.get(currency) ?? []).reduce(
      (sum, { count, amount }) => ({ count: sum.count + count, amount: sum.amount + amount }),
      NOTHING,
    ),
  }));
}
