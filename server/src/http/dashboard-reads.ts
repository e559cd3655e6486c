// What the routes of the dashboard need from the database and its neighbours, as functions that speak of the domain.
// Decides nothing and knows no request.

import type { Uuid } from '../domain/ids.ts';
import type { IssuedInvoice } from '../domain/invoice.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { RequestLogEntry } from '../domain/request-log.ts';
import type { InvoiceTotals, PaymentTotals, ProjectTotals } from '../domain/totals.ts';
import type { Letterhead, WorkspaceSettings } from '../domain/workspace.ts';
import type { Overview } from '../schemas/overview.ts';
import type { Usage } from '../schemas/request-log.ts';
import type { InvoiceFilters } from '../store/invoices.ts';
import type { Page, PageRequest, TimeRange } from '../store/lists.ts';
import type { WorkspaceMilestoneFilters } from '../store/milestones.ts';
import type { PaymentFilters } from '../store/payments.ts';
import type { RequestLogFilters } from '../store/request-log.ts';
import type { OpenExport } from './csv-export.ts';

/** All that an invoice's page shows. */
export interface InvoiceDocument {
  readonly invoice: IssuedInvoice;
  /** As it was when the invoice was issued. */
  readonly letterhead: Letterhead;
  readonly projectName: string;
  /** In which zone its dates are. */
  readonly timezone: string;
}

export interface DashboardReads {
  readonly getSettings: (workspaceId: Uuid) => Promise<WorkspaceSettings | null>;
  readonly getOverview: (workspaceId: Uuid) => Promise<Overview | null>;
  readonly listAllMilestones: (workspaceId: Uuid, filters: WorkspaceMilestoneFilters, page: PageRequest) => Promise<Page<Milestone>>;
  readonly sumPayments: (workspaceId: Uuid, filters: PaymentFilters, times: TimeRange) => Promise<PaymentTotals[]>;
  readonly sumInvoices: (workspaceId: Uuid, filters: InvoiceFilters, times: TimeRange) => Promise<InvoiceTotals[]>;
  /** Null: there is no such project. */
  readonly sumProject: (workspaceId: Uuid, projectId: Uuid) => Promise<ProjectTotals[] | null>;
  readonly openExport: OpenExport;
  readonly getInvoiceDocument: (workspaceId: Uuid, id: Uuid) => Promise<InvoiceDocument | null>;
  /** The page as a PDF file. */
  readonly drawInvoice: (document: InvoiceDocument) => Promise<Buffer>;
  readonly listRequestLog: (workspaceId: Uuid, filters: RequestLogFilters, page: PageRequest) => Promise<Page<RequestLogEntry>>;
  readonly getUsage: (workspaceId: Uuid) => Promise<Usage>;
}
