// What read routes need from the database, as functions that speak of the domain; and how a page of them becomes a list's answer.
// Decides nothing and knows no request.

import type { Delivery, DeliveryAttempt } from '../domain/delivery.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Event } from '../domain/event.ts';
import { encodeId, type IdKind, type Uuid } from '../domain/ids.ts';
import type { IssuedInvoice } from '../domain/invoice.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { Payment } from '../domain/payment.ts';
import type { Project } from '../domain/project.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { WebhookRepair } from '../domain/webhook-repair.ts';
import type { PageQuery } from '../schemas/lists.ts';
import { type ApiKeyWithUse, apiKeySource, listApiKeys } from '../store/api-keys.ts';
import { type ByIdReader, createByIdReader } from '../store/by-id.ts';
import type { Database, Queryable } from '../store/database.ts';
import { deliverySource, listAttempts } from '../store/deliveries.ts';
import { type DeliveryFilters, type DeliveryPage, listDeliveries } from '../store/delivery-lists.ts';
import { type EventChoice, type EventPage, eventSource, isFiltered, searchEvents } from '../store/events.ts';
import { type InvoiceFilters, listInvoices } from '../store/invoices.ts';
import type { Page, PageRequest } from '../store/lists.ts';
import { listMilestones, type MilestoneFilters, milestoneSource } from '../store/milestones.ts';
import { listPayments, type PaymentFilters, paymentSource } from '../store/payments.ts';
import { hasProject, listProjects, type ProjectFilters, projectSource } from '../store/projects.ts';
import { listWebhookEndpoints, webhookEndpointSource } from '../store/webhook-endpoints.ts';
import { listWebhookRepairs, webhookRepairSource } from '../store/webhook-repairs.ts';
import type { DashboardReads } from './dashboard-reads.ts';
import type { EventStreams } from './event-streams.ts';
import { ABSENT } from './mount.ts';
import type { Answer, Route } from './route.ts';

type ListOf<Entity, Filters> = (workspaceId: Uuid, filters: Filters, page: PageRequest) => Promise<Page<Entity>>;
/** Null: what the list belongs to does not exist in the workspace. */
type ListWithin<Entity, Filters> = (workspaceId: Uuid, filters: Filters, page: PageRequest) => Promise<Page<Entity> | null>;

export interface Reads extends DashboardReads {
  readonly now: () => Date;
  readonly getProject: ByIdReader<Project>;
  readonly listProjects: ListOf<Project, ProjectFilters>;
  readonly getMilestone: ByIdReader<Milestone>;
  readonly listMilestones: ListWithin<Milestone, MilestoneFilters>;
  readonly getPayment: ByIdReader<Payment>;
  readonly listPayments: ListOf<Payment, PaymentFilters>;
  readonly listProjectPayments: ListWithin<Payment, PaymentFilters & { readonly projectId: Uuid }>;
  readonly listInvoices: ListOf<IssuedInvoice, InvoiceFilters>;
  readonly getEvent: ByIdReader<Event>;
  readonly searchEvents: (workspaceId: Uuid, choice: EventChoice, limit: number) => Promise<EventPage>;
  /** What follows in the log, as it is committed. */
  readonly openEventStream: EventStreams['open'];
  readonly getApiKey: ByIdReader<ApiKeyWithUse>;
  readonly listApiKeys: (workspaceId: Uuid, page: PageRequest) => Promise<Page<ApiKeyWithUse>>;
  /** A deleted endpoint is no endpoint. */
  readonly getWebhookEndpoint: ByIdReader<WebhookEndpoint>;
  readonly listWebhookEndpoints: (workspaceId: Uuid, page: PageRequest) => Promise<Page<WebhookEndpoint>>;
  readonly getDelivery: ByIdReader<Delivery>;
  /** Null: the endpoint that is asked for does not exist. */
  readonly listDeliveries: (workspaceId: Uuid, filters: DeliveryFilters, page: PageRequest) => Promise<DeliveryPage | null>;
  readonly getWebhookRepair: ByIdReader<WebhookRepair>;
  readonly listWebhookRepairs: (workspaceId: Uuid, page: PageRequest) => Promise<Page<WebhookRepair>>;
  readonly listAttempts: (
    workspaceId: Uuid,
    deliveryId: Uuid,
    page: { readonly limit: number; readonly before?: number | undefined },
  ) => Promise<Page<DeliveryAttempt> | null>;
}

/** The composition root calls this once. The clock decides whether a key has expired. */
export function createReads(
  database: Pick<Database, 'query' | 'shared'>,
  clock: () => Date,
  openEventStream: EventStreams['open'],
  dashboard: DashboardReads,
): Reads {
  const { shared } = database;
  /** With one filter there is one index to go along, whatever its value. More leave a choice that depends on the values. */
  const along = (filters: object): Queryable => (countOf(filters) <= 1 ? shared : database);
  const getEndpoint = createByIdReader(shared, webhookEndpointSource);
  const getWebhookEndpoint: ByIdReader<WebhookEndpoint> = async (workspaceId, id) => {
    const endpoint = await getEndpoint(workspaceId, id);
    return endpoint === null || endpoint.deletedAt !== null ? null : endpoint;
  };
  const getDelivery = createByIdReader(shared, deliverySource);

  /** Only an empty page leaves the question whether the project exists. */
  const withinProject =
    <Entity, Filters extends { readonly projectId?: Uuid | undefined }>(
      list: (database: Queryable, ...rest: Parameters<ListOf<Entity, Filters>>) => Promise<Page<Entity>>,
    ) =>
    async (workspaceId: Uuid, filters: Filters & { readonly projectId: Uuid }, page: PageRequest): Promise<Page<Entity> | null> => {
      const found = await list(along(filters), workspaceId, filters, page);
      return found.records.length > 0 || (await hasProject(database, workspaceId, filters.projectId)) ? found : null;
    };

  return {
    ...dashboard,
    now: clock,
    getProject: createByIdReader(shared, projectSource),
    listProjects: (workspaceId, filters, page) => listProjects(isSearch(filters) ? database : along(filters), workspaceId, filters, page),
    getMilestone: createByIdReader(shared, milestoneSource),
    listMilestones: withinProject(listMilestones),
    getPayment: createByIdReader(shared, paymentSource),
    listPayments: (workspaceId, filters, page) => listPayments(along(filters), workspaceId, filters, page),
    listProjectPayments: withinProject(listPayments),
    listInvoices: (workspaceId, filters, page) => listInvoices(along(filters), workspaceId, filters, page),
    getEvent: createByIdReader(shared, eventSource),
    searchEvents: (workspaceId, choice, limit) => searchEvents(isFiltered(choice) ? database : shared, workspaceId, choice, limit),
    openEventStream,
    getApiKey: createByIdReader(shared, apiKeySource),
    listApiKeys: (workspaceId, page) => listApiKeys(shared, workspaceId, {}, page),
    getWebhookEndpoint,
    listWebhookEndpoints: (workspaceId, page) => listWebhookEndpoints(shared, workspaceId, {}, page),
    getDelivery,
    async listDeliveries(workspaceId, filters, page) {
      if (filters.endpointId !== undefined && (await getWebhookEndpoint(workspaceId, filters.endpointId)) === null) return null;
      return listDeliveries(database, workspaceId, filters, page);
    },
    getWebhookRepair: createByIdReader(shared, webhookRepairSource),
    listWebhookRepairs: (workspaceId, page) => listWebhookRepairs(database, workspaceId, {}, page),
    async listAttempts(workspaceId, deliveryId, page) {
      const found = await listAttempts(database, workspaceId, deliveryId, page);
      return found.records.length > 0 || (await getDelivery(workspaceId, deliveryId)) !== null ? found : null;
    },
  };
}

/** How many filters are given. */
const countOf = (filters: object): number => Object.values(filters).filter((value) => value !== undefined).length;

/** What may look at many projects to find few does not share: others would wait for it. */
const isSearch = ({ search, metadata }: ProjectFilters): boolean => search !== undefined || metadata !== undefined;

/** The handler of a GET by id. No `async`: what that keeps for later is a fortieth of what a read costs. */
export function readsOne<Entity>(read: ByIdReader<Entity>, answer: (entity: Entity) => Answer): Route['handle'] {
  const answerOrAbsent = (entity: Entity | null): Answer | Refusal => (entity === null ? ABSENT : answer(entity));
  return ({ caller, ids }) => read(caller.workspaceId, ids.id as Uuid).then(answerOrAbsent);
}

export function pageOf(query: PageQuery): PageRequest {
  return {
    limit: query.limit,
    startingAfter: query.starting_after,
    endingBefore: query.ending_before,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
  };
}

/**
 * The envelope of a list. `next_cursor` leads on to older records: after a page that was reached with `ending_before` there are some, at
 * least the one the cursor names.
 */
export function listAnswer<Entity extends { readonly id: Uuid }>(
  kind: IdKind,
  page: Page<Entity>,
  request: PageRequest,
  present: (entity: Entity) => object,
): Answer {
  const last = page.records.at(-1);
  const hasOlder = last !== undefined && (page.hasMore || request.endingBefore !== undefined);
  return listEnvelope(page, present, hasOlder ? encodeId(kind, last.id) : null);
}

export function listEnvelope<Entity>(page: Page<Entity>, present: (entity: Entity) => object, nextCursor: string | null): Answer {
  return { body: { object: 'list', data: page.records.map(present), has_more: page.hasMore, next_cursor: nextCursor } };
}

/** A list with this one resource in it, for the document. */
export function listExample(resource: object, nextCursor: string | null = null): object {
  return { object: 'list', data: [resource], has_more: nextCursor !== null, next_cursor: nextCursor };
}
