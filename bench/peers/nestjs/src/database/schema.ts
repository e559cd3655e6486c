// The tables of the peer service, as Drizzle knows them. schema.sql beside this file makes them.
// Types and columns only.

import { bigint, date, index, integer, jsonb, pgTable, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core';

const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });

export const workspaces = pgTable('workspaces', {
  id: uuid('id').primaryKey().defaultRandom(),
  name: text('name').notNull(),
  invoiceNumber: bigint('invoice_number', { mode: 'number' }).notNull().default(0),
});

export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: uuid('workspace_id').notNull(),
    hash: text('hash').notNull(),
    scopes: text('scopes').array().notNull(),
    revokedAt: moment('revoked_at'),
  },
  (table) => [uniqueIndex('api_keys_hash').on(table.hash)],
);

export const projects = pgTable('projects', {
  id: uuid('id').primaryKey().defaultRandom(),
  workspaceId: uuid('workspace_id').notNull(),
  name: text('name').notNull(),
  clientId: text('client_id').notNull(),
  payeeId: text('payee_id'),
  currency: text('currency').notNull().default('USD'),
  status: text('status').notNull().default('active'),
  metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
  createdAt: moment('created_at').notNull().defaultNow(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

export const milestones = pgTable(
  'milestones',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: uuid('workspace_id').notNull(),
    projectId: uuid('project_id').notNull(),
    title: text('title').notNull(),
    description: text('description'),
    amount: bigint('amount', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    payeeId: text('payee_id'),
    dueDate: date('due_date'),
    status: text('status').notNull().default('pending'),
    submission: jsonb('submission').$type<{ note: string | null; links: string[] }>(),
    submittedAt: moment('submitted_at'),
    approvedAt: moment('approved_at'),
    version: integer('version').notNull().default(1),
    createdAt: moment('created_at').notNull().defaultNow(),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [index('milestones_project').on(table.projectId)],
);

export const invoices = pgTable(
  'invoices',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: uuid('workspace_id').notNull(),
    number: bigint('number', { mode: 'number' }).notNull(),
    projectId: uuid('project_id').notNull(),
    milestoneId: uuid('milestone_id').notNull(),
    total: bigint('total', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [uniqueIndex('invoices_number').on(table.workspaceId, table.number)],
);

export const payments = pgTable(
  'payments',
  {
    id: uuid('id').primaryKey().defaultRandom(),
    workspaceId: uuid('workspace_id').notNull(),
    projectId: uuid('project_id').notNull(),
    milestoneId: uuid('milestone_id').notNull(),
    invoiceId: uuid('invoice_id').notNull(),
    clientId: text('client_id').notNull(),
    payeeId: text('payee_id'),
    amount: bigint('amount', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    releasedAt: moment('released_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [uniqueIndex('payments_milestone').on(table.milestoneId)],
);

export const events = pgTable('events', {
  id: uuid('id').primaryKey().defaultRandom(),
  workspaceId: uuid('workspace_id').notNull(),
  type: text('type').notNull(),
  data: jsonb('data').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
});
