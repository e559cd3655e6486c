// The works that are measured: what each asks of a server, request by request. The same requests for every server.
// Makes requests; sends none.

import { encodeId, type Uuid } from '../server/src/domain/ids.ts';
import type { Load, Shot } from './load.ts';
import { pick } from './seed.ts';

export const works = ['read', 'list-first', 'list-far', 'create', 'submit', 'approve', 'approve-many', 'mixed'] as const;
export type Work = (typeof works)[number];

export const PAGE_SIZE = 10;
export const FAR_PAGE = 1_000;
/** The list is that long at least, or there would be no such page. */
export const FEWEST_ROWS = PAGE_SIZE * FAR_PAGE;

export const titles: Readonly<Record<Work | 'webhooks', string>> = {
  read: 'Read a payment by id',
  'list-first': 'List payments, page 1',
  'list-far': 'List payments, page 1000',
  create: 'Create a project with 5 milestones',
  submit: 'Submit a milestone',
  approve: 'Approve a milestone',
  'approve-many': 'Approve, 16 workspaces',
  mixed: 'Mixed, 80 % reads',
  webhooks: 'Webhook deliveries',
};

/** How many events each request leaves in the log; the books are held against the figures by it. */
export const eventsOf = { create: 6, submit: 1, approve: 3 } as const;

const milestones = ['Design', 'Prototype', 'Build', 'Launch', 'Handover'].map((title, i) => ({
  title,
  amount: 50_000 * (i + 1),
  due_date: '2026-12-31',
  description: 'As agreed in the offer.',
}));
export const bodies = {
  create: JSON.stringify({
    name: 'New website',
    client_id: 'client_42',
    payee_id: 'freelancer_7',
    metadata: { order: 'A-1001' },
    milestones,
  }),
  submit: JSON.stringify({
    status: 'submitted',
    submission: { note: 'All three drafts are in the folder.', links: ['https://files.example.com/drafts'] },
  }),
  approve: JSON.stringify({ status: 'approved' }),
} as const;

/** What can be read of one server's books: the keys of its large workspace and that workspace's payments, oldest first. */
export interface Books {
  readonly keys: readonly string[];
  readonly payments: readonly Uuid[];
}

/** Milestones in the status that a work needs, each handed out once. */
export interface Stock {
  take(status: 'pending' | 'submitted', where: 'one' | 'many', count: number): Promise<Shot[]>;
}

/** More would only fill the memory of the load generator: so many ids reach every part of an index. */
const MAX_READS = 100_000;

/** Ids in a scattered order that is the same in every run: neighbours would share pages. */
export function readShots({ keys, payments }: Books): Shot[] {
  const length = Math.min(payments.length, MAX_READS);
  // A stride that shares no factor with a number of this size visits all of it; primes of this size do.
  const stride = 7_368_787;
  return Array.from({ length }, (_, i) => {
    const id = payments[(i * stride) % payments.length] as Uuid;
    return { method: 'GET', path: `/v1/payments/${encodeId('payment', id)}`, key: pick(keys, i) };
  });
}

export function listShots({ keys, payments }: Books, page: number): Shot[] {
  // Newest first: page n begins after the (n - 1) newest pages.
  const before = payments[payments.length - (page - 1) * PAGE_SIZE];
  const cursor = page === 1 || before === undefined ? '' : `&starting_after=${encodeId('payment', before)}`;
  return keys.map((key) => ({ method: 'GET', path: `/v1/payments?limit=${PAGE_SIZE}${cursor}`, key }));
}

export function createShots({ keys }: Books): Shot[] {
  return keys.map((key) => ({ method: 'POST', path: '/v1/projects', key, body: bodies.create, events: eventsOf.create }));
}

async function moves(stock: Stock, move: 'submit' | 'approve', where: 'one' | 'many', count: number): Promise<Shot[]> {
  const shots = await stock.take(move === 'submit' ? 'pending' : 'submitted', where, count);
  return shots.map((shot) => ({ ...shot, body: bodies[move], events: eventsOf[move] }));
}

const WRITE_EVERY = 5;
/** In turn, every fifth request; between them three reads by id for every first page. */
const writesInTurn = ['approve', 'submit', 'approve', 'create'] as const;

async function mixedShots(books: Books, stock: Stock, count: number): Promise<Shot[]> {
  const rounds = Math.ceil(count / (WRITE_EVERY * writesInTurn.length));
  const writes = {
    approve: await moves(stock, 'approve', 'one', 2 * rounds),
    submit: await moves(stock, 'submit', 'one', rounds),
    create: createShots(books),
  };
  const reads = readShots(books);
  const lists = listShots(books, 1);
  const used = { approve: 0, submit: 0, create: 0 };
  const shots: Shot[] = [];
  // The stock may hold less than was asked for: the shortest decides how long the list is.
  for (let i = 0; i < count; i++) {
    if (i % WRITE_EVERY !== WRITE_EVERY - 1) {
      shots.push(i % WRITE_EVERY === 0 ? pick(lists, i) : pick(reads, i));
      continue;
    }
    const kind = pick(writesInTurn, Math.floor(i / WRITE_EVERY));
    const write = kind === 'create' ? pick(writes.create, used.create) : writes[kind][used[kind]];
    if (write === undefined) break;
    used[kind] += 1;
    shots.push(write);
  }
  return shots;
}

/** What to send for a work; `count` is how many requests that change something should be at hand. */
export async function loadFor(work: Work, books: Books, stock: Stock, count: number, seconds: number): Promise<Load> {
  switch (work) {
    case 'read':
      return { shots: readShots(books), once: false, seconds };
    case 'list-first':
      return { shots: listShots(books, 1), once: false, seconds };
    case 'list-far':
      return { shots: listShots(books, FAR_PAGE), once: false, seconds };
    case 'create':
      return { shots: createShots(books), once: false, seconds };
    case 'submit':
      return { shots: await moves(stock, 'submit', 'one', count), once: true, seconds };
    case 'approve':
      return { shots: await moves(stock, 'approve', 'one', count), once: true, seconds };
    case 'approve-many':
      return { shots: await moves(stock, 'approve', 'many', count), once: true, seconds };
    case 'mixed':
      return { shots: await mixedShots(books, stock, count), once: true, seconds };
    default:
      return work satisfies never;
  }
}

/** wrk asks its script for one request more than it sends, so the first of a list is left out. */
const UNSENT = 1;

/** Between which numbers of events the books may have grown by a load of which so many requests were answered. */
export function eventsMade(load: Load, answers: number, underWay: number): readonly [fewest: number, most: number] {
  const made = (requests: number): number => {
    const { shots } = load;
    const total = shots.reduce((sum, { events = 0 }) => sum + events, 0);
    let sum = Math.floor(requests / shots.length) * total;
    for (let i = 0; i < requests % shots.length; i++) sum += shots[i]?.events ?? 0;
    return sum;
  };
  const most = made(answers + underWay + UNSENT);
  // Requests that are all alike count exactly. Of a mixture, the ones without an answer may have been any of the last.
  const isUniform = load.shots.every(({ events }) => events === load.shots[0]?.events);
  return [isUniform ? made(answers) : made(Math.max(0, answers - underWay)), most];
}
