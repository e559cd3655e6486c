// Who takes part: a server with its books, the stock of milestones it is to move, and a way to hold its books against the figures.
// Sets up and tears down; measures nothing.

import { setTimeout as delay } from 'node:timers/promises';
import { encodeId } from '../server/src/domain/ids.ts';
import type { Cluster } from './cluster.ts';
import { type Door, openServer } from './doors.ts';
import { CONNECTIONS, type Load, type Measure, type Shot } from './load.ts';
import { addMilestones, countEvents, findFaults, pick, settle, type Workspace } from './seed.ts';
import type { Server } from './servers.ts';
import { type Books, bodies, createShots, eventsMade, listShots, loadFor, readShots, type Stock, type Work } from './works.ts';

export interface Contestant {
  readonly name: string;
  readonly server: Server;
  /** Whether PostgreSQL works for it: what PostgreSQL costs meanwhile is its cost. */
  readonly usesServer: boolean;
  plays(work: Work): boolean;
  /** What to send for so many seconds of a work, made ready in its database. */
  prepare(work: Work, seconds: number): Promise<Load>;
  /** Notes how fast it is, and says what of the books contradicts the figure; null when they agree. */
  check(work: Work, load: Load, measure: Measure): Promise<string | null>;
  /** Says that up to so many requests of a load were sent that nobody will `check`. */
  permit(load: Load, requests: number): void;
  /** What is wrong with its books in the end. Stops its server. */
  finish(): Promise<string[]>;
}

/** What one database holds for the benchmark, the same for every server that has a copy of it. */
export interface Contents {
  /** With the long books. */
  readonly one: Workspace;
  readonly many: readonly Workspace[];
  readonly books: Books;
}

/** Requests that change something, prepared for the first round of a server, per second; from then on its own pace says how many. */
const FIRST_PACE = { 'by hand': 4_000, tranche: 14_000 } as const;
const MIXED_TO_WRITES = 3;
const HEADROOM = 1.5;
const FEWEST_PER_SECOND = 500;

const isMove = (work: Work): boolean => work === 'submit' || work === 'approve' || work === 'approve-many';

class Paces {
  readonly #paces = new Map<Work, number>();
  readonly #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  count(work: Work, seconds: number): number {
    if (!isMove(work) && work !== 'mixed') return 0;
    const pace = this.#paces.get(work) ?? this.#first * (work === 'mixed' ? MIXED_TO_WRITES : 1);
    return Math.ceil(pace * seconds * HEADROOM);
  }

  note(work: Work, perSecond: number): void {
    this.#paces.set(work, Math.max(perSecond, FEWEST_PER_SECOND));
  }
}

const SETTLE_MS = 100;
const SETTLED_LOOKS = 3;

/** The count once it no longer grows: requests cut off by the end of a round finish first, and a busy disk may keep them for a while. */
async function settledEvents(door: Door): Promise<number> {
  let last = await countEvents(door);
  for (let tries = 0, same = 0; tries < 100 && same < SETTLED_LOOKS; tries++) {
    await delay(SETTLE_MS);
    const now = await countEvents(door);
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

function contradiction(work: Work, load: Load, measure: Measure, made: number): string | null {
  const [fewest, most] = eventsMade(load, measure.answers, CONNECTIONS);
  if (made >= fewest && made <= most) return null;
  return `${work}: ${measure.answers} requests were answered, which makes ${fewest} to ${most} events; the log has ${made} more`;
}

/** A server on PostgreSQL: milestones are added while it runs, and its log is counted after each round. */
export async function onPostgres(cluster: Cluster, database: string, contents: Contents, server: Server): Promise<Contestant> {
  const door: Door = await openServer(cluster.url(database));
  const { name } = server;
  const paces = new Paces(name === 'by hand' ? FIRST_PACE['by hand'] : FIRST_PACE.tranche);
  const stock: Stock = {
    take: (status, where, count) => addMilestones(door, where === 'one' ? [contents.one] : contents.many, status, count),
  };
  let before = 0;
  return {
    name,
    server,
    usesServer: true,
    plays: () => true,
    async prepare(work, seconds) {
      const count = paces.count(work, seconds);
      const load = await loadFor(work, contents.books, stock, count, seconds);
      await settle(door);
      before = await countEvents(door);
      return load;
    },
    async check(work, load, measure) {
      paces.note(work, measure.perSecond);
      return contradiction(work, load, measure, (await settledEvents(door)) - before);
    },
    permit: () => undefined,
    async finish() {
      await server.stop();
      const faults = await findFaults(door);
      await door.close();
      return faults;
    },
  };
}

/** Milestones laid in before the start, since nobody else can write while the embedded database is served. */
export interface Pile {
  readonly pending: Shot[];
  readonly submitted: Shot[];
  /** Of how many rounds it is the stock: each gets its share. */
  readonly pacePerSecond: number;
}

export function onDirectory(contents: Contents, pile: Pile, server: Server, reopen: () => Promise<Door>, eventsBefore: number): Contestant {
  const stock: Stock = { take: async (status, _where, count) => pile[status].splice(0, count) };
  const paces = new Paces(pile.pacePerSecond / HEADROOM);
  const made = { fewest: 0, most: 0 };
  return {
    name: server.name,
    server,
    usesServer: false,
    // One workspace or many makes no difference to a database with one connection.
    plays: (work) => work !== 'approve-many',
    prepare: (work, seconds) => loadFor(work, contents.books, stock, paces.count(work, seconds), seconds),
    async check(_work, load, measure) {
      const [fewest, most] = eventsMade(load, measure.answers, CONNECTIONS);
      made.fewest += fewest;
      made.most += most;
      return null;
    },
    permit(load, requests) {
      made.most += eventsMade(load, requests, 0)[1];
    },
    async finish() {
      await server.stop();
      const door = await reopen();
      const events = (await countEvents(door)) - eventsBefore;
      const faults = await findFaults(door);
      await door.close();
      if (events < made.fewest || events > made.most)
        faults.push(`${made.fewest} to ${made.most} events were answered for; the log has ${events} more`);
      return faults;
    },
  };
}

/** The bare server ignores ids: any milestone will do, and again and again. */
export function onNothing(contents: Contents, server: Server): Contestant {
  const { keys, payments } = contents.books;
  const paths = payments.slice(0, 1_000).map((id) => `/v1/milestones/${encodeId('milestone', id)}`);
  const shot = (i: number): Shot => ({ method: 'PATCH', path: pick(paths, i), key: pick(keys, i) });
  const stock: Stock = { take: async (_status, _where, count) => Array.from({ length: count }, (_, i) => shot(i)) };
  return {
    name: server.name,
    server,
    usesServer: false,
    plays: () => true,
    prepare: async (work, seconds) => ({ ...(await loadFor(work, contents.books, stock, 10_000, seconds)), once: false }),
    check: async () => null,
    permit: () => undefined,
    async finish() {
      await server.stop();
      return [];
    },
  };
}

/** One request by hand: its answer must be right. */
async function ask(server: Server, { method, path, key, body }: Shot): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${server.name}: ${method} ${path} answered ${response.status}: ${text}`);
  return text;
}

/** What the servers answer must be of the same shape; the bare one is handed these texts. */
export async function sampleAnswers(server: Server, { books }: Contents, toApprove: Shot): Promise<Record<string, string>> {
  return {
    READ_BODY: await ask(server, readShots(books)[0] as Shot),
    LIST_BODY: await ask(server, listShots(books, 1)[0] as Shot),
    CREATE_BODY: await ask(server, createShots(books)[0] as Shot),
    MOVE_BODY: await ask(server, { ...toApprove, body: bodies.approve }),
  };
}
