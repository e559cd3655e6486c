// What an operator is told when something is not right: by `doctor` beforehand, and by `serve` when it cannot start.
// Every message says what to do, without the inside of the program.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresUrl } from './support/postgres-server.ts';
import { dataDirectory, type Finished, places, someKey, startServer, temporaryDirectory, tranche } from './support/server-process.ts';
import { until } from './support/webhook-fixtures.ts';

const postgres = places.find(({ name }) => name === 'PostgreSQL');
const otherKey = Buffer.alloc(32, 7).toString('base64');

/** One line for each finding: its mark and its words, however they were broken into lines. */
function findingsOf({ stdout }: Finished): string[] {
  for (const line of stdout.split('\n')) if (/\s/.test(line.trim())) expect(line.length, line).toBeLessThanOrEqual(80);
  return stdout
    .replaceAll(/\n {6}/g, ' ')
    .split('\n')
    .filter((line) => line !== '');
}

const toMend = (finished: Finished): string[] => findingsOf(finished).filter((line) => line.startsWith('MEND'));

function expectRefused(finished: Finished, message: RegExp): void {
  expect([finished.code, finished.stdout]).toEqual([1, '']);
  expect(finished.stderr.replaceAll(/\s+/g, ' ')).toMatch(message);
  expect(finished.stderr).not.toMatch(/\n\s+at |node:internal/);
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await until(() => server.listening);
  return (server.address() as { port: number }).port;
}

describe('doctor', () => {
  test('finds nothing to mend before the first start, nor beside a running server, nor after it', async () => {
    const variables = { DATA_DIR: join(temporaryDirectory(), 'data'), PORT: '0' };
    const before = await tranche(['doctor'], variables);
    expect([before.code, toMend(before), before.stderr]).toEqual([0, [], '']);
    expect(findingsOf(before)[0]).toMatch(/^ok {4}Tranche \d+\.\d+\.\d+ on Node 2\d\./);
    const used = { ...variables, DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() };
    const server = await startServer(used);
    const beside = await tranche(['doctor'], { ...used, PORT: String(server.port) });
    expect([beside.code, toMend(beside)]).toEqual([0, []]);
    expect(findingsOf(beside).join()).toMatch(/A server answers at 127\.0\.0\.1:\d+ and is ready\..*held by a running process/);
    await server.stop();
    const after = await tranche(['doctor'], used);
    expect([after.code, toMend(after)]).toEqual([0, []]);
    expect(findingsOf(after).join()).toMatch(/All \d+ migrations are applied\.,ok {4}The encryption key is the one of this database\./);
    const mismatch = await tranche(['doctor'], { ...used, ENCRYPTION_KEY: otherKey });
    expect([mismatch.code, toMend(mismatch)]).toEqual([1, [expect.stringContaining('sealed with another encryption key')]]);
    expectRefused(
      await tranche(['serve'], { ...used, ENCRYPTION_KEY: otherKey }),
      /^This database was sealed with another encryption key\. Start with /,
    );
  });

  test('tells a port that something else uses from one of ours', async () => {
    const silent = await listening(createServer((socket) => void socket.end('SSH-2.0-x\r\n')));
    const web = await listening(createHttpServer((_request, response) => void response.end('hello')));
    const DATA_DIR = join(temporaryDirectory(), 'none');
    for (const port of [silent, web]) {
      const finished = await tranche(['doctor'], { DATA_DIR, PORT: String(port) });
      expect([finished.code, toMend(finished)]).toEqual([
        1,
        [expect.stringMatching(/Something that is not Tranche uses 127\.0\.0\.1:\d+\. Choose/)],
      ]);
    }
  });

  test('finds a data directory that cannot be used, and so says serve', async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, 'file'), '');
    const unusable = { DATA_DIR: join(home, 'file'), PORT: '0' };
    const finished = await tranche(['doctor'], unusable);
    expect([finished.code, toMend(finished)]).toEqual([1, [expect.stringContaining('is not a directory. Choose another DATA_DIR.')]]);
    expectRefused(
      await tranche(['serve'], unusable),
      /^DATA_DIR \S+ cannot be used: .* Give it to the user that runs Tranche, or choose another one\./,
    );
    const inside = { DATA_DIR: join(home, 'file', 'data'), PORT: '0' };
    expect(toMend(await tranche(['doctor'], inside))).toEqual([expect.stringContaining('cannot be made by this user.')]);
    expectRefused(await tranche(['serve'], inside), /^DATA_DIR \S+ cannot be used: ENOTDIR/);
    mkdirSync(join(home, 'open'), { mode: 0o755 });
    const open = await tranche(['doctor'], { DATA_DIR: join(home, 'open'), PORT: '0' });
    expect(toMend(open)).toEqual([expect.stringMatching(/can be entered by other users; .* chmod 700 /)]);
    expect(readdirSync(join(home, 'open'))).toEqual([]);
  });

  test.skipIf(postgres?.available !== true)('finds a DATABASE_URL that leads nowhere, and another ENCRYPTION_KEY', async () => {
    const variables = (await postgres?.make()) as Record<string, string>;
    const nowhere = { ...variables, DATABASE_URL: postgresUrl(1) };
    const lost = await tranche(['doctor'], { ...nowhere, PORT: '0' });
    expect([lost.code, toMend(lost)]).toEqual([1, [expect.stringMatching(/cannot be used: .*ECONNREFUSED.* Check DATABASE_URL/)]]);
    expectRefused(await tranche(['serve'], nowhere), /^The database is out of reach: connect ECONNREFUSED 127\.0\.0\.1:1/);
    const unknown = { ...variables, DATABASE_URL: `${variables.DATABASE_URL}_not` };
    expectRefused(await tranche(['serve'], unknown), /^The database ended the connection: database "\w+" does not exist/);

    const server = await startServer(variables);
    const sound = await tranche(['doctor'], { ...variables, PORT: String(server.port) });
    // The test's own server runs without fsync, which is the one thing to be found here.
    expect(toMend(sound)).toEqual([expect.stringContaining('fsync is off')]);
    const other = { ...variables, ENCRYPTION_KEY: otherKey, PORT: '0' };
    expect(toMend(await tranche(['doctor'], other)).join()).toContain('sealed with another encryption key');
    expectRefused(await tranche(['serve'], other), /^This database was sealed with another encryption key\./);
  });
});

describe('a configuration that is not right', () => {
  const wrong = {
    PORT: 'http',
    DATABASE_URL: 'mysql://root:hunter2secret@localhost/x',
    ENCRYPTION_KEY: 'hunter2secret',
    TRANCHE_API_KEY: 'hunter2secret',
    LOG_LEVEL: 'loud',
    RATE_LIMIT_PER_MINUTE: '0',
    WEBHOOK_NETWORK: 'private',
    PREPARED_STATEMENTS: 'yes',
    LANES: '17',
  };

  test('is refused with every variable at fault and what would be right, and without its values', async () => {
    for (const command of ['serve', 'doctor']) {
      const finished = await tranche([command], wrong);
      const text = finished.stdout + finished.stderr;
      expect(finished.code).toBe(1);
      for (const name of Object.keys(wrong)) expect(text).toMatch(new RegExp(`${name}: (must|is) `));
      expect(text).not.toContain('hunter2secret');
      expect(text).not.toMatch(/\n\s+at /);
      for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    }
  });

  test('with DATABASE_URL and without ENCRYPTION_KEY is refused with a line that makes one', async () => {
    const finished = await tranche(['migrate'], { DATABASE_URL: 'postgres://localhost/x' });
    expectRefused(finished, /ENCRYPTION_KEY: required with DATABASE_URL; make one with: openssl rand -base64 32 $/);
  });

  test('with a HOST that is not of this machine is refused in a sentence', async () => {
    const finished = await tranche(['serve'], { DATA_DIR: await dataDirectory(), HOST: '203.0.113.7', PORT: '0' });
    expectRefused(finished, /^HOST 203\.0\.113\.7 is not an address of this machine\./);
  });
});
