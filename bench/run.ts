// The benchmark: `npm run bench [-- --quick] [--write] [--rounds n] [--seconds n] [--only "bare,by hand,tranche"]`.
// Three servers in one run, round by round in turn, so that what disturbs the machine disturbs all of them. Real PostgreSQL only.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cluster, startCluster, useCluster } from './cluster.ts';
import { CONNECTIONS, fire, type Load, type Measure, requireWrk, type Shot } from './load.ts';
import { describeMachine, writeReport } from './page.ts';
import { judge, type Scenario, scenarioTable, type Target, verdictTable } from './report.ts';
import { Seed, type Workspace } from './seed.ts';
import { type Server, type ServerName, serverNames, startServer, trancheEnvironment } from './servers.ts';

const APPROVAL = '{"status":"approved"}';
const SPREAD = { workspaces: 16, keysEach: 4 };
const SINGLE = { workspaces: 1, keysEach: 64 };
/** Milestones prepared for the first approvals of a server, per second; from then on its own pace says how many. */
const FIRST_GUESS_PER_SECOND: Record<ServerName, number> = { bare: 0, 'by hand': 3_000, tranche: 15_000 };
const HEADROOM = 1.6;

const titles = { read: 'Read a payment by id', single: 'Approve, one workspace', spread: 'Approve, 16 workspaces' };
const targets: Target[] = [
  { scenario: titles.read, against: 'by hand', atLeast: 2.5 },
  { scenario: titles.read, against: 'bare', atLeast: 0.5 },
  { scenario: titles.single, against: 'by hand', atLeast: 4 },
  { scenario: titles.spread, against: 'by hand', atLeast: 4 },
];

interface Contestant {
  readonly server: Server;
  /** Null for the bare server, which has no database. */
  readonly seed: Seed | null;
  readonly spread: readonly Workspace[];
  readonly single: readonly Workspace[];
  readonly reads: readonly Shot[];
  approvalsPerSecond: number;
}

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: serverNames.join(',') },
  },
});
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 5));
const seconds = Number(flags.seconds ?? (flags.quick ? 2 : 6));
const paymentCount = flags.quick ? 4_000 : 20_000;
const wanted = serverNames.filter((name) => flags.only.split(',').includes(name));
const scratch = mkdtempSync(join(tmpdir(), 'tranche-bench-load-'));
const faults: string[] = [];

/** The schema of the by-hand server is ours, from the same files, so that tables and indexes are the same; links are plain foreign keys. */
function migrationTexts(): string[] {
  const directory = new URL('../server/src/store/migrations/', import.meta.url);
  const files = readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const texts = files.map((name) => readFileSync(new URL(name, directory), 'utf8'));
  return [...texts, readFileSync(new URL('by-hand/schema.sql', import.meta.url), 'utf8')];
}

async function addContestant(cluster: Cluster, name: 'by hand' | 'tranche'): Promise<Contestant> {
  const url = cluster.url(`bench_${name.replace(' ', '_')}`);
  const seed = new Seed(url);
  await seed.connect();
  if (name === 'by hand') for (const text of migrationTexts()) await seed.execute(text);
  const server = await startServer(name, { DATABASE_URL: url, ...(name === 'tranche' ? trancheEnvironment() : {}) });
  const spread: Workspace[] = [];
  for (let i = 0; i < SPREAD.workspaces; i++) spread.push(await seed.addWorkspace(SPREAD.keysEach));
  const single = [await seed.addWorkspace(SINGLE.keysEach)];
  const reads = await seed.addPayments(spread, paymentCount);
  await seed.settle();
  return { server, seed, spread, single, reads, approvalsPerSecond: FIRST_GUESS_PER_SECOND[name] };
}

/** One request by hand before the load: its answer must be right, and the bare server answers with the same bytes. */
async function sample(contestant: Contestant, shot: Shot, body?: string): Promise<string> {
  const headers = { authorization: `Bearer ${shot.key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const init = { method: shot.method, headers, ...(body === undefined ? {} : { body }) };
  const response = await fetch(`http://127.0.0.1:${contestant.server.port}${shot.path}`, init);
  const text = await response.text();
  if (response.status !== 200)
    throw new Error(`${contestant.server.name}: ${shot.method} ${shot.path} answered ${response.status}: ${text}`);
  return text;
}

function reportFaults(name: ServerName, title: string, measure: Measure): void {
  if (measure.faults > 0) faults.push(`${name}: ${title}: ${measure.faults} requests were refused or broke`);
}

async function measureApprovals(
  contestant: Contestant,
  workspaces: readonly Workspace[],
  title: string,
  forSeconds: number,
): Promise<Measure> {
  const { server, seed } = contestant;
  if (seed === null)
    return fire(server.port, { shots: contestant.reads.map(toApproval), body: APPROVAL, once: false, seconds: forSeconds }, scratch);
  const shots = await seed.addSubmitted(workspaces, Math.ceil(contestant.approvalsPerSecond * forSeconds * HEADROOM));
  await seed.settle();
  const before = await seed.countPayments();
  const load: Load = { shots, body: APPROVAL, once: true, seconds: forSeconds };
  const measure = await fire(server.port, load, scratch);
  contestant.approvalsPerSecond = Math.max(measure.perSecond, 500);
  // What was under way when the clock stopped was approved, too, but nobody was left to count the answer.
  const made = (await settledCount(seed)) - before;
  if (made < measure.answers || made > measure.answers + CONNECTIONS) {
    faults.push(`${server.name}: ${title}: ${measure.answers} approvals were answered, ${made} payments made`);
  }
  return measure;
}

/** The bare server ignores ids: any milestone will do. */
function toApproval(shot: Shot): Shot {
  return { ...shot, method: 'PATCH', path: shot.path.replace('/payments/pay_', '/milestones/mil_') };
}

/** The count once it no longer grows: requests cut off by the end of a round finish first. */
async function settledCount(seed: Seed): Promise<number> {
  let last = -1;
  for (let tries = 0; tries < 50; tries++) {
    const now = await seed.countPayments();
    if (now === last) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return last;
}

type Take = (contestant: Contestant, forSeconds: number) => Promise<Measure>;

async function play(title: string, contestants: readonly Contestant[], take: Take): Promise<Scenario> {
  console.log(`\n${title}: ${rounds} rounds of ${seconds} s each`);
  const results = new Map<ServerName, Measure[]>();
  for (const contestant of contestants) await take(contestant, 2); // Warm: compiled, connected, cached.
  for (let round = 1; round <= rounds; round++) {
    const line: string[] = [];
    for (const contestant of contestants) {
      const measure = await take(contestant, seconds);
      reportFaults(contestant.server.name, title, measure);
      results.set(contestant.server.name, [...(results.get(contestant.server.name) ?? []), measure]);
      line.push(`${contestant.server.name} ${Math.round(measure.perSecond)}/s`);
    }
    console.log(`  round ${round}: ${line.join(', ')}`);
  }
  return { title, rounds: results };
}

async function race(contestants: readonly Contestant[]): Promise<Scenario[]> {
  const scenarios = [
    await play(titles.read, contestants, ({ server, reads }, forSeconds) =>
      fire(server.port, { shots: reads, once: false, seconds: forSeconds }, scratch),
    ),
    // One platform is one workspace, as a rule; many workspaces spread the locks that the hand-written server has to wait for.
    await play(titles.single, contestants, (contestant, forSeconds) =>
      measureApprovals(contestant, contestant.single, titles.single, forSeconds),
    ),
    await play(titles.spread, contestants, (contestant, forSeconds) =>
      measureApprovals(contestant, contestant.spread, titles.spread, forSeconds),
    ),
  ];
  for (const { server, seed } of contestants) faults.push(...((await seed?.findFaults()) ?? []).map((fault) => `${server.name}: ${fault}`));
  return scenarios;
}

/** Starts the bare server with the answers of another one, and lets it be asked for the same ids. */
async function addBare(model: Contestant): Promise<Contestant> {
  const read = model.reads[0] as Shot;
  const [approve] = (await model.seed?.addSubmitted(model.spread, 1)) ?? [];
  const bodies = { READ_BODY: await sample(model, read), APPROVE_BODY: await sample(model, approve as Shot, APPROVAL) };
  const sizes = Object.values(bodies).map((body) => Buffer.byteLength(body));
  console.log(`The bare server answers with the bodies of "${model.server.name}": ${sizes[0]} bytes a read, ${sizes[1]} an approval.`);
  return { ...model, server: await startServer('bare', bodies), seed: null };
}

async function main(): Promise<void> {
  const wrkVersion = requireWrk();
  const cluster = process.env.BENCH_DATABASE_URL === undefined ? await startCluster() : useCluster(process.env.BENCH_DATABASE_URL);
  const contestants: Contestant[] = [];
  const databases = ['bench_by_hand', 'bench_tranche'];
  const admin = new Seed(cluster.url('postgres'));
  let hurry = (): void => cluster.stop();
  process.once('SIGINT', () => {
    hurry();
    process.exit(130);
  });
  try {
    await admin.connect();
    for (const database of databases) {
      await admin.execute(`drop database if exists ${database}`);
      await admin.execute(`create database ${database}`);
    }
    const machine = await describeMachine(admin, wrkVersion);
    console.log(machine.join('\n'));
    for (const name of ['by hand', 'tranche'] as const) if (wanted.includes(name)) contestants.push(await addContestant(cluster, name));
    hurry = () => {
      for (const { server } of contestants) void server.stop();
      cluster.stop();
    };
    const model = contestants.at(-1);
    if (model === undefined) throw new Error('--only needs "by hand" or "tranche".');
    if (wanted.includes('bare')) contestants.unshift(await addBare(model));
    const scenarios = await race(contestants);
    for (const scenario of scenarios) console.log(`\n${scenario.title}\n${scenarioTable(scenario)}`);
    const verdicts = judge(scenarios, targets);
    console.log(`\nTargets\n${verdictTable(verdicts)}`);
    if (faults.length > 0) {
      console.error(`\nThe figures do not count, something went wrong:\n  ${faults.join('\n  ')}`);
      process.exitCode = 1;
    } else if (flags.write) {
      writeReport(writeFileSync, { scenarios, verdicts, machine, rounds, seconds });
    }
  } finally {
    for (const { server, seed } of contestants) {
      await server.stop();
      await seed?.close();
    }
    await admin.close();
    cluster.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

await main();
