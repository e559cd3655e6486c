// Sets a run up: databases with the same books, a server on each, and the bare one with their answers.
// Takes everything down again, whatever happened. Measures nothing.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, joinCluster, startCluster } from './cluster.ts';
import { type Contents, type Contestant, onDirectory, onNothing, onPostgres, sampleAnswers } from './contestants.ts';
import { type Door, migrate, openDirectory, openServer } from './doors.ts';
import { fillBooks } from './fill.ts';
import type { Shot } from './load.ts';
import { addMilestones, addWorkspace, countEvents, settle } from './seed.ts';
import { type Server, type ServerName, startServer, trancheEnvironment } from './servers.ts';

const KEYS = 64;
const MANY = { workspaces: 16, keysEach: 4, projectsEach: 8 };
const MILESTONES_PER_PROJECT = 100;
/** What the embedded database may do at most, for the stock laid in for it. */
const EMBEDDED_PACE = 5_000;
/** Of the seconds that it is measured, each is one of these works: submissions, approvals, and the mixture's part of both. */
const PILE_SHARES = { pending: 1.6, submitted: 2.2 };

export type Say = (line: string) => void;

export async function fillContents(door: Door, rows: number, say: Say): Promise<Contents> {
  const one = await addWorkspace(door, KEYS, Math.max(8, Math.ceil(rows / MILESTONES_PER_PROJECT)));
  const many = [];
  for (let i = 0; i < MANY.workspaces; i++) many.push(await addWorkspace(door, MANY.keysEach, MANY.projectsEach));
  const payments = await fillBooks(door, one, rows, (done) => {
    if (done % 100_000 === 0)
      say(`  ${done.toLocaleString('en-US')} of ${rows.toLocaleString('en-US')} milestones, with payments, invoices, entries, events`);
  });
  return { one, many, books: { keys: one.keys, payments } };
}

/** Everything that one run has started, ended in the reverse order. */
export class Arena {
  readonly cluster: Cluster;
  readonly #admin: Door;
  readonly #ends: (() => unknown)[] = [];
  readonly #say: Say;
  #ending: Promise<void> | null = null;

  constructor(cluster: Cluster, admin: Door, say: Say) {
    this.cluster = cluster;
    this.#admin = admin;
    this.#say = say;
  }

  get admin(): Door {
    return this.#admin;
  }

  onEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Every end is tried, whatever became of the others: nothing that was started may outlive the run. */
  end(): Promise<void> {
    this.#ending ??= this.#endAll();
    return this.#ending;
  }

  async #endAll(): Promise<void> {
    const complaints: unknown[] = [];
    for (const end of [...this.#ends.toReversed(), () => this.#admin.close(), () => this.cluster.stop()]) {
      try {
        await end();
      } catch (error) {
        complaints.push(error);
      }
    }
    for (const complaint of complaints) this.#say(`At the end: ${complaint instanceof Error ? complaint.message : String(complaint)}`);
  }

  async makeDatabase(name: string, template?: string): Promise<string> {
    await this.#admin.query(`drop database if exists ${name} with (force)`);
    await this.#admin.query(`create database ${name}${template === undefined ? '' : ` template ${template}`}`);
    this.onEnd(() => this.#admin.query(`drop database if exists ${name} with (force)`));
    return this.cluster.url(name);
  }

  async start(name: ServerName, environment: Record<string, string>): Promise<Server> {
    const server = await startServer(name, environment);
    this.onEnd(() => server.stop());
    return server;
  }

  /** A database with books of that many rows. */
  async fill(database: string, rows: number): Promise<Contents> {
    const url = await this.makeDatabase(database);
    await migrate(url);
    const door = await openServer(url);
    this.#say(`Filling ${database} with ${rows.toLocaleString('en-US')} milestones and payments`);
    const contents = await fillContents(door, rows, this.#say);
    await settle(door);
    await door.close();
    return contents;
  }

  async addByHand(database: string, contents: Contents): Promise<Contestant> {
    const door = await openServer(this.cluster.url(database));
    await door.query(readFileSync(new URL('by-hand/schema.sql', import.meta.url), 'utf8'));
    await settle(door);
    await door.close();
    const server = await this.start('by hand', { DATABASE_URL: this.cluster.url(database) });
    return onPostgres(this.cluster, database, contents, server);
  }

  async addTranche(database: string, contents: Contents): Promise<Contestant> {
    const server = await this.start('tranche', { DATABASE_URL: this.cluster.url(database), ...trancheEnvironment() });
    return onPostgres(this.cluster, database, contents, server);
  }

  /** The service on its embedded database, with stock for that many seconds of each work. */
  async addEmbedded(rows: number, secondsOfEach: number): Promise<Contestant> {
    const directory = mkdtempSync(join(tmpdir(), 'tranche-bench-embedded-'));
    this.onEnd(() => rmSync(directory, { recursive: true, force: true }));
    this.#say(`Filling the embedded database with ${rows.toLocaleString('en-US')} milestones and payments, and the stock of the run`);
    const door = await openDirectory(directory);
    const contents = await fillContents(door, rows, this.#say);
    const stock = (status: 'pending' | 'submitted'): Promise<Shot[]> =>
      addMilestones(door, [contents.one], status, Math.ceil(EMBEDDED_PACE * secondsOfEach * PILE_SHARES[status]));
    const pile = { pending: await stock('pending'), submitted: await stock('submitted'), pacePerSecond: EMBEDDED_PACE };
    const eventsBefore = await countEvents(door);
    await settle(door);
    await door.close();
    const server = await this.start('embedded', { DATA_DIR: directory, ...trancheEnvironment() });
    return onDirectory(contents, pile, server, () => openDirectory(directory), eventsBefore);
  }

  /** Answers with the texts of another server, which is asked for them. */
  async addBare(database: string, model: Contestant, contents: Contents): Promise<Contestant> {
    const door = await openServer(this.cluster.url(database));
    const [toApprove] = await addMilestones(door, [contents.one], 'submitted', 1);
    await door.close();
    const answers = await sampleAnswers(model.server, contents, toApprove as Shot);
    const sizes = Object.values(answers).map((text) => Buffer.byteLength(text));
    this.#say(
      `The bare server answers with the bodies of "${model.name}": ${sizes.join(', ')} bytes for a read, a list, a creation, a move.`,
    );
    return onNothing(contents, await this.start('bare', answers));
  }
}

export async function openArena(say: Say): Promise<Arena> {
  const cluster = process.env.BENCH_DATABASE_URL === undefined ? await startCluster() : joinCluster(process.env.BENCH_DATABASE_URL);
  return new Arena(cluster, await openServer(cluster.url('postgres')), say);
}

/** Runs in an arena of its own, with a folder for the load generator, and ends it: also when told to stop, and when something breaks. */
export async function inArena(say: Say, run: (arena: Arena, scratch: string) => Promise<void>): Promise<void> {
  const arena = await openArena(say);
  const scratch = mkdtempSync(join(tmpdir(), 'tranche-bench-load-'));
  arena.onEnd(() => rmSync(scratch, { recursive: true, force: true }));
  const stop = (code: number): void => void arena.end().finally(() => process.exit(code));
  process.once('SIGINT', () => stop(130)).once('SIGTERM', () => stop(143));
  process.once('uncaughtException', (error) => {
    console.error(error);
    stop(1);
  });
  try {
    await run(arena, scratch);
  } finally {
    await arena.end();
  }
}
