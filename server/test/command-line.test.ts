// The command line as an operator uses it: keys, verify and migrate, with and without a running server, on both databases.
// Everything printed is looked at: it fits a terminal, says what to do, and gives no secret away.

import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPglite } from '../src/store/pglite.ts';
import {
  dataDirectory,
  type Finished,
  type Json,
  parseLog,
  places,
  someKey,
  startServer,
  temporaryDirectory,
  tranche,
} from './support/server-process.ts';
import { until } from './support/webhook-fixtures.ts';

const quietly = { info: () => undefined, warn: () => undefined, error: () => undefined };
const secretForm = /tr_live_[A-Za-z0-9]{38}/g;

/** What only a copied path, address or hash may exceed. */
function expectToFit(text: string): void {
  for (const line of text.split('\n')) if (/\s/.test(line.trim())) expect(line.length, line).toBeLessThanOrEqual(80);
}

/** Ended with a sentence for a person: no stack, nothing on standard output. */
function expectRefused(finished: Finished, message: RegExp): void {
  expect([finished.code === 1 || finished.code === 2, finished.stdout]).toEqual([true, '']);
  expect(finished.stderr.replaceAll(/\s+/g, ' ')).toMatch(message);
  expect(finished.stderr).not.toMatch(/\n\s+at |node:internal/);
  expectToFit(finished.stderr);
}

async function manageKeys(variables: Record<string, string>, keysBefore: readonly string[]): Promise<void> {
  const run = async (...words: string[]): Promise<Finished> => {
    const finished = await tranche(words, variables);
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    expectToFit(finished.stdout);
    return finished;
  };
  const made: Json = JSON.parse(
    (await run('keys', 'create', '--name', 'from the terminal', '--scopes', 'projects:read, events:read', '--json')).stdout,
  );
  expect(made).toMatchObject({ name: 'from the terminal', status: 'active', scopes: ['projects:read', 'events:read'], expires_at: null });
  expect(made.secret).toMatch(/^tr_live_\w{38}$/);
  expect((await run('keys', 'revoke', made.id)).stdout).toBe(`Revoked ${made.id} ("from the terminal").\n`);
  const list = (await run('keys', 'list')).stdout;
  expect(list).toContain(`${made.id}  revoked  ${made.secret.slice(0, 12)}…   from the terminal\n`);
  expect(list.match(/active .*…\s+(.*)\n/g)?.map((line) => line.replace(/.*…\s+(.*)\n/, '$1'))).toEqual(keysBefore);
  expect(list).not.toMatch(secretForm);
}

describe('a first start on an empty directory', () => {
  test('shows one key and a line that works when pasted, in 80 columns; the key is nowhere else', async () => {
    const directory = join(temporaryDirectory(), 'data');
    const server = await startServer({ DATA_DIR: directory, LOG_LEVEL: 'trace' });
    const [key, pasted] = server.stdout().match(secretForm) as [string, string];
    expect(pasted).toBe(key);
    expectToFit(server.stdout());
    const curl = /curl (\S+) \\\n\s+-H "Authorization: Bearer (\S+)" \\\n\s+-H "(\S+): (\S+)" \\\n\s+-d '(.+)'\n/.exec(server.stdout());
    const [, url, bearer, name, type, body] = curl as unknown as string[];
    const answer = await fetch(url as string, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, [name as string]: type as string },
      body: body as string,
    });
    expect(answer.status).toBe(201);
    expect([statSync(directory).mode & 0o777, statSync(join(directory, 'control.sock')).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(statSync(join(directory, 'encryption.key')).mode & 0o777).toBe(0o600);
    const { stdout, stderr } = await server.stop();
    expect([stdout.split(key).length - 1, stderr.includes(key), stderr.includes(key.slice(0, 20))]).toEqual([2, false, false]);
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(100);
    for (const file of files) expect(readFileSync(join(file.parentPath, file.name)).includes(key), file.name).toBe(false);

    const again = await startServer({ DATA_DIR: directory });
    expect(again.stdout()).not.toMatch(secretForm);
    expectToFit(again.stdout());
    await again.stop();
    // Without a server the same commands open the directory themselves.
    await manageKeys({ DATA_DIR: directory }, ['First key']);
  });

  test('that finds its port taken makes nothing that would be lost: the next start shows the first key', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void blocker.close());
    await until(() => blocker.listening);
    const { port } = blocker.address() as { port: number };
    const directory = await dataDirectory();
    const refused = await tranche(['serve'], { DATA_DIR: directory, PORT: String(port) });
    expectRefused(refused, new RegExp(`^Port ${port} is in use. Choose another one: PORT=${port + 1} npm start $`));
    const server = await startServer({ DATA_DIR: directory });
    expect(server.stdout()).toMatch(secretForm);
  });
});

describe.each(places)('a running server, $name', (place) => {
  test.skipIf(!place.available)('keys are made, listed and revoked beside it, and a revoked one stops working', async () => {
    const variables = await place.make();
    const server = await startServer({ ...variables, LOG_LEVEL: 'trace' });
    await manageKeys(variables, ['TRANCHE_API_KEY']);
    const told = (await tranche(['keys', 'create', '--name', 'second', '--expires-at', '2099-01-31T00:00:00Z'], variables)).stdout;
    const [, secret, id] =
      /^(tr_live_\w{38})\n\nThat is the key "second" \((key_\w+)\)\.\nIt is shown this once and cannot be read again\.\n$/.exec(told) ?? [];
    expect((await server.call('GET', '/v1/projects', { key: secret })).status).toBe(200);
    for (const again of [1, 2]) {
      const revoked: Json = JSON.parse((await tranche(['keys', 'revoke', id as string, '--json'], variables)).stdout);
      expect(revoked, `time ${again}`).toMatchObject({ id, status: 'revoked' });
    }
    const list: Json[] = JSON.parse((await tranche(['keys', 'list', '--json'], variables)).stdout);
    expect(list.map(({ name, status }) => [name, status]).at(-1)).toEqual(['second', 'revoked']);
    expect(JSON.stringify(list)).not.toMatch(secretForm);
    const revoked = await server.call('POST', '/v1/projects', { key: secret, body: { name: 'p', client_id: 'c' } });
    expect([revoked.status, revoked.body.code]).toEqual([401, 'api_key_revoked']);
    const { stdout, stderr } = await server.stop();
    for (const hidden of [secret, variables.TRANCHE_API_KEY, variables.ENCRYPTION_KEY]) {
      if (hidden !== undefined) expect([stdout.includes(hidden), stderr.includes(hidden)]).toEqual([false, false]);
    }
    expect(parseLog(stderr).filter((line) => line.level >= 40)).toEqual([]);
  });

  test.skipIf(!place.available)('TRANCHE_API_KEY is made at the start, kept at the next, and once revoked refuses it', async () => {
    const variables = await place.make();
    const first = await startServer(variables);
    expect(first.stdout()).not.toMatch(secretForm);
    const [own]: Json[] = JSON.parse((await tranche(['keys', 'list', '--json'], variables)).stdout);
    await first.stop();
    const second = await startServer({ ...variables, TRANCHE_API_KEY: someKey() });
    expect((await second.call('GET', '/v1/projects', { key: variables.TRANCHE_API_KEY })).status).toBe(200);
    expect((await second.ok('GET', '/v1/api_keys')).data).toHaveLength(2);
    await tranche(['keys', 'revoke', own.id], variables);
    await second.stop();
    expectRefused(await tranche(['serve'], { ...variables, PORT: '0' }), /^TRANCHE_API_KEY names a key that was revoked or has expired\./);
  });
});

const postgres = places.find(({ name }) => name === 'PostgreSQL');

describe('migrate', () => {
  test.skipIf(postgres?.available !== true)('says what it did, and that there was nothing to do', async () => {
    const variables = (await postgres?.make()) as Record<string, string>;
    const applied = await tranche(['migrate'], variables);
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Applied: 0001_initial.*\.\n$/), stderr: '' });
    expect(await tranche(['migrate'], variables)).toMatchObject({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
    expectRefused(await tranche(['keys', 'list'], variables), /^There is no workspace yet; run "tranche serve" once\. $/);
  });
});

describe('bad arguments', () => {
  const variables = { DATA_DIR: '/nonexistent/never/made' };

  test.each<[string[], RegExp]>([
    [['keys', 'create'], /^error: required option '--name <name>' not specified $/],
    [['keys', 'revoke'], /^error: missing required argument 'id' $/],
    [['keys', 'list', 'more'], /^error: too many arguments/],
    [['serve', '--port', '1'], /^error: unknown option '--port' $/],
    [['srve'], /^error: unknown command 'srve' \(Did you mean serve\?\) $/],
    [['verify', '--expect', 'abc'], /It must look like 1234:9f86d081…, as verify prints it\./],
  ])('%j are refused in a sentence', async (words, message) => {
    expectRefused(await tranche(words, variables), message);
  });

  test('values and messages that make no sense are refused with what would be right, and the server goes on', async () => {
    const beside = { DATA_DIR: await dataDirectory() };
    const server = await startServer({ ...beside, TRANCHE_API_KEY: someKey() });
    const run = (...words: string[]): Promise<Finished> => tranche(words, beside);
    expectRefused(await run('keys', 'create', '--name', ''), /^name: /);
    expectRefused(await run('keys', 'create', '--name', 'k', '--scopes', 'all'), /^scopes: "all" is none; the scopes are projects:read, /);
    expectRefused(
      await run('keys', 'create', '--name', 'k', '--expires-at', 'soon'),
      /^expires_at: must be a time such as 2027-01-31T00:00:00Z $/,
    );
    expectRefused(await run('keys', 'create', '--name', 'k', '--expires-at', '2001-01-31T00:00:00Z'), /^expires_at must lie after /);
    expectRefused(await run('keys', 'revoke', 'prj_01h455vb4pex5vsknk084sn02q'), /is not the id of a key; ids look like key_/);
    expectRefused(await run('keys', 'revoke', 'key_01h455vb4pex5vsknk084sn02q'), /^There is no such resource/);
    expectRefused(await run('keys', 'list', '--workspace', 'main'), /^"main" is not the id of a workspace\. $/);
    for (const text of ['', 'no JSON', 'null', '{"operation":"toString"}', '{"operation":"dropAll"}', '{"operation":"verify","input":7}']) {
      const answer = await new Promise<string>((done) => {
        const socket = connect(join(beside.DATA_DIR, 'control.sock'));
        let said = '';
        socket.on('data', (chunk: Buffer) => (said += chunk)).on('close', () => done(said));
        socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
      });
      expect(answer).toContain('{"error":');
    }
    expect((await server.ok('GET', '/v1/api_keys')).data).toHaveLength(1);
  });
});

describe('verify', () => {
  test('prints what it proved and a head to note, and fails with the place of the damage', async () => {
    const variables = { DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() };
    const server = await startServer(variables);
    for (let i = 0; i < 3; i++) await server.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
    const [report]: Json[] = JSON.parse((await tranche(['verify', '--json'], variables)).stdout);
    expect(report).toMatchObject({ events: 3, faults: [], faultsInAll: 0 });
    await server.stop();
    const sound = await tranche(['verify', '--expect', report.head], variables);
    expect(sound.code).toBe(0);
    expect(sound.stdout).toMatch(/^wsp_\w{26} {2}Default\n {2}ok {2}hash chain {4}3 events, each hash recomputed, no gap\n/);
    expectToFit(sound.stdout + sound.stderr);
    expect(sound.stdout).toContain(`  head ${report.head}\n`);

    const database = await openPglite({ dataDir: variables.DATA_DIR, log: quietly });
    await database.query('alter table events disable trigger events_append_only');
    await database.query(`update events set body = body || ' ' where seq = 2`);
    await database.close();
    const broken = await tranche(['verify'], variables);
    expect([broken.code, broken.stdout.replaceAll(/\s+/g, ' ')]).toEqual([1, expect.stringContaining('BROKEN event 2 (evt_')]);
    expectToFit(broken.stdout);
  });
});

describe('the control socket', () => {
  test('that breaks off leaves a sentence, and the exit code of a failure', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'postgres'));
    const dying = createServer((request, response) => {
      response.write('{"progress":"checking"}\n', () => request.socket.destroy());
    }).listen(join(directory, 'control.sock'));
    onTestFinished(() => void dying.close());
    await until(() => dying.listening);
    const finished = await tranche(['verify'], { DATA_DIR: directory });
    expect(finished.stderr).toMatch(/^checking\n/);
    expectRefused({ ...finished, stderr: finished.stderr.replace('checking\n', '') }, /^The server went away before it answered/);
  });
});
