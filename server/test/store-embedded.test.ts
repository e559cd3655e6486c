// What only the embedded database must answer for: that an answered commit is on disk, and that a directory serves one process.
// Holders of the directory's lock are real processes, killed for real.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Database } from '../src/store/database.ts';
import { DirectoryInUse, lockDirectory } from '../src/store/directory-lock.ts';
import type { Log } from '../src/store/log.ts';
import { openPglite } from '../src/store/pglite.ts';

const log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the embedded database in a directory', () => {
  const home = mkdtempSync(join(tmpdir(), 'tranche-embedded-'));
  const dataDir = join(home, 'data');
  let fsyncs = 0;
  let database: Database;
  const open = (): Promise<Database> => openPglite({ dataDir, log, onFsync: () => (fsyncs += 1), maintenanceEveryMs: 20, lockWaitMs: 200 });

  beforeAll(async () => {
    database = await open();
    await database.query('create table marks (name text primary key)');
  });
  afterAll(async () => {
    await database.close();
    rmSync(home, { recursive: true, force: true });
  });

  test('every commit is fsynced before it is answered, and reading fsyncs nothing (I-15)', async () => {
    for (let i = 0; i < 20; i++) {
      const before = fsyncs;
      await database.transaction(async (transaction) => {
        await transaction.query('insert into marks values ($1)', [`commit ${i}`]);
        // Nothing is durable yet, so that the fsync counted below is that of the commit.
        expect(fsyncs).toBe(before);
      });
      expect(fsyncs).toBeGreaterThan(before);
      const after = fsyncs;
      await database.query('select * from marks');
      expect(fsyncs).toBe(after);
    }
    const before = fsyncs;
    await database.query("insert into marks values ('alone')");
    expect(fsyncs).toBeGreaterThan(before);
  });

  test('a second open of the directory is refused with what to do, and the first is not disturbed (I-17)', async () => {
    const refused = await open().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DirectoryInUse);
    expect((refused as Error).message).toContain(`pid ${process.pid}`);
    expect((refused as Error).message).toMatch(/DATA_DIR.*DATABASE_URL/);
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('what was committed is there after closing and opening again', async () => {
    await database.query("insert into marks values ('kept')");
    await database.close();
    await expect(database.query('select 1')).rejects.toThrow('closed');
    database = await open();
    expect(await database.query("select name from marks where name = 'kept'")).toEqual([{ name: 'kept' }]);
  });

  test('the log does not grow for ever, nor does a table that is rewritten', async () => {
    await database.query('create table rewritten (id int primary key, filler text)');
    await database.query("insert into rewritten select i, repeat('x', 1000) from generate_series(1, 2000) i");
    const checkpoints = async (): Promise<unknown> => (await database.query('select redo_lsn::text from pg_control_checkpoint()'))[0];
    const first = await checkpoints();
    for (let i = 0; i < 40; i++) await database.query("update rewritten set filler = repeat('y', 1000)");
    await vi.waitFor(async () => expect(await checkpoints()).not.toEqual(first), { timeout: 20_000 });
    await vi.waitFor(
      async () => {
        const [table] = await database.query<{ dead: bigint; vacuums: bigint }>(
          "select n_dead_tup as dead, vacuum_count as vacuums from pg_stat_user_tables where relname = 'rewritten'",
        );
        expect(table?.vacuums).toBeGreaterThan(0n);
        expect(table?.dead).toBeLessThan(2_000n);
      },
      { timeout: 20_000 },
    );
    const segments = readdirSync(join(dataDir, 'postgres', 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name));
    expect(segments.length).toBeLessThan(20);
  });

  test('a directory that holds no whole database is not started, and the message says which', async () => {
    const other = join(home, 'damaged');
    mkdirSync(join(other, 'postgres'), { recursive: true });
    writeFileSync(join(other, 'postgres', 'PG_VERSION'), '12\n');
    await expect(openPglite({ dataDir: other, log })).rejects.toThrow(join(other, 'postgres'));
    // And the directory is free again.
    (await lockDirectory(other, 0))();
  });

  test('a creation that was interrupted is begun again', async () => {
    const other = join(home, 'interrupted');
    mkdirSync(join(other, 'postgres.new'), { recursive: true });
    writeFileSync(join(other, 'postgres.new', 'PG_VERSION'), '18\n');
    const fresh = await openPglite({ dataDir: other, log });
    expect(await fresh.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(existsSync(join(other, 'postgres.new'))).toBe(false);
    await fresh.close();
  });

  test('a first start makes the files of its own where those of the installation are missing or broken, for its owner alone', async () => {
    const packages = join(home, 'node_modules');
    const start = async (name: string) => {
      const fresh = await openPglite({ dataDir: join(home, name), log, packages });
      expect(await fresh.query('select 1 as one')).toEqual([{ one: 1 }]);
      await fresh.close();
      expect(statSync(join(home, name, 'postgres')).mode & 0o777).toBe(0o700);
    };
    await start('missing');
    mkdirSync(join(packages, '@electric-sql/pglite'), { recursive: true });
    writeFileSync(join(packages, '@electric-sql/pglite/package.json'), '{"version":"1.0.0"}');
    mkdirSync(join(packages, '.cache/tranche-embedded/1.0.0'), { recursive: true });
    writeFileSync(join(packages, '.cache/tranche-embedded/1.0.0/PG_VERSION'), '12\n');
    await start('broken');
  });
});

describe('a process that is killed with -9 in the middle of writing', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tranche-killed-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  const adapter = new URL('../src/store/pglite.ts', import.meta.url).href;

  test('has lost no commit that it answered, and no half of one is there (I-2, I-15)', async () => {
    const program = `
      import { openPglite } from ${JSON.stringify(adapter)};
      const log = { info() {}, warn() {}, error() {} };
      const database = await openPglite({ dataDir: process.argv[1], log });
      await database.query('create table if not exists pairs (id int, half text)');
      for (let id = 0; ; id++) {
        await database.transaction(async (transaction) => {
          await transaction.query("insert into pairs values ($1, 'left')", [id]);
          await transaction.query("insert into pairs values ($1, 'right')", [id]);
        });
        process.stdout.write(id + '\\n');
        if (id % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }`;
    const writer = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void writer.kill('SIGKILL'));
    let said = '';
    const gone = once(writer, 'exit');
    for await (const chunk of writer.stdout) {
      said += chunk;
      if (said.length > 2_000) writer.kill('SIGKILL');
    }
    await gone;
    const answered = Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1));
    expect(answered).toBeGreaterThan(100);

    const database = await openPglite({ dataDir, log });
    const rows = await database.query(
      'select count(*)::int4 as pairs from (select id from pairs where id <= $1 group by id having count(*) = 2) p',
      [answered],
    );
    expect(rows).toEqual([{ pairs: answered + 1 }]);
    expect(await database.query('select id from pairs group by id having count(*) <> 2')).toEqual([]);
    await database.close();
  });
});

describe('the lock of a data directory', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-lock-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const lockModule = new URL('../src/store/directory-lock.ts', import.meta.url).href;

  test('is held against other processes, and free at once when its holder is killed with -9 (I-17)', async () => {
    const program = `
      import { lockDirectory } from ${JSON.stringify(lockModule)};
      await lockDirectory(process.argv[1]);
      console.log('locked');
      setInterval(() => undefined, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program, directory], { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void holder.kill('SIGKILL'));
    const complaints: Buffer[] = [];
    holder.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
    await once(holder.stdout, 'data');
    const refused = await lockDirectory(directory, 200).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DirectoryInUse);
    expect((refused as Error).message).toContain(`pid ${holder.pid}`);

    const waiting = lockDirectory(directory);
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
    const release = await waiting;
    release();
    // Nothing is printed that a user would have to ask about, such as a warning on experimental parts of Node.
    expect(Buffer.concat(complaints).toString()).toBe('');
  });

  test('can be taken again once it was given back', async () => {
    (await lockDirectory(directory, 0))();
    (await lockDirectory(directory, 0))();
  });
});
