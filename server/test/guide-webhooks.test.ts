// The receivers of docs/guides/webhooks.md, taken from the page as they stand and run as programs against real deliveries.
// Each in its language: TypeScript by this Node, Python by python3, Go by the go command. What a machine lacks is skipped, with the reason.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { blocksOf, type CurlRequest, requestsOf } from './support/readme-story.ts';
import { dataDirectory, type Json, someKey, startServer, tranche } from './support/server-process.ts';
import { openReceiver, type Received, until } from './support/webhook-fixtures.ts';

const guide = readFileSync(fileURLToPath(new URL('../../docs/guides/webhooks.md', import.meta.url)), 'utf8');

/** Compiling a Go program for the first time on a busy machine. */
const START_TIMEOUT_MS = 150_000;
/** A second attempt comes after five seconds. */
const DELIVERY_TIMEOUT_MS = 25_000;

interface Language {
  readonly name: string;
  /** As the page marks its blocks. */
  readonly mark: string;
  readonly file: string;
  /** What has to be done once before it runs; none where it runs as it is. */
  readonly build?: readonly string[];
  readonly command: readonly string[];
  /** Asks whether it is installed. */
  readonly probe: readonly string[];
}

const languages: readonly Language[] = [
  {
    name: 'TypeScript',
    mark: 'ts',
    file: 'receiver.mts',
    command: [process.execPath, 'receiver.mts'],
    probe: [process.execPath, '--version'],
  },
  { name: 'Python', mark: 'python', file: 'receiver.py', command: ['python3', 'receiver.py'], probe: ['python3', '--version'] },
  {
    name: 'Go',
    mark: 'go',
    file: 'receiver.go',
    build: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    command: ['./receiver'],
    probe: ['go', 'version'],
  },
];

const isInstalled = ({ probe: [program = '', ...words] }: Language): boolean => spawnSync(program, words).status === 0;

/** The first block of a language is the receiver. */
const receiverOf = (mark: string): string => blocksOf(guide).find(({ language }) => language === mark)?.text ?? '';

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

interface Running {
  /** The lines it has printed so far. */
  readonly lines: () => string[];
}

/** Writes the receiver down and builds it, which may take longer than the service waits before its second attempt. */
async function build({ file, build: [program, ...words] = [] }: Language, code: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-guide-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, file), code);
  const environment = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
  if (program !== undefined) await promisify(execFile)(program, words, { cwd: directory, env: environment, timeout: START_TIMEOUT_MS });
  return directory;
}

async function run(
  { command: [program = '', ...words] }: Language,
  directory: string,
  variables: Record<string, string>,
): Promise<Running> {
  const child = spawn(program, words, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    if (child.exitCode === null) child.kill('SIGKILL');
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = new Promise<never>((_, failed) => child.on('exit', (code) => failed(new Error(`it ended with ${code}: ${printed}`))));
  ended.catch(() => undefined);
  const listening = expect.poll(() => printed, { timeout: START_TIMEOUT_MS, interval: 50 }).toContain('listening');
  await Promise.race([listening, ended]);
  return { lines: () => printed.split('\n').slice(0, -1) };
}

interface Sent {
  readonly id?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly at?: Date;
  readonly headers?: Record<string, string>;
}

/** A webhook as the service would send it, signed by the official library. Returns the status of the answer. */
async function send(url: string, secret: string, sent: Sent): Promise<number> {
  const { id = 'evt_by_hand', body = '{"event":"project.created","data":{"projectId":"prj_1"}}', at = new Date(), headers = {} } = sent;
  const signature = new Webhook(sent.secret ?? secret).sign(id, at, body);
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signature,
      'tranche-seq': '1000',
      ...headers,
    },
    body,
  });
  return answer.status;
}

describe.each(languages)('the receiver of the guide in $name', (language) => {
  const installed = isInstalled(language);

  test.skipIf(!installed)(
    `takes what the service sends, also after it was away, and refuses what is forged, old or unsigned${installed ? '' : ` (needs ${language.probe[0]})`}`,
    async () => {
      const directory = await build(language, receiverOf(language.mark));
      const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() });
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/webhooks`;
      const endpoint = await server.ok('POST', '/v1/webhook_endpoints', { body: { url } });
      // Made while nobody listens: the first attempt is refused, the second one arrives.
      const project = await server.ok('POST', '/v1/projects', {
        body: { name: 'Größe 📐', client_id: 'acme', milestones: [{ title: 'Design', amount: 150_000 }] },
      });
      const receiver = await run(language, directory, { WEBHOOK_SECRET: endpoint.secret, PORT: String(port) });
      const events = (): string[] => receiver.lines().filter((line) => /^[a-z]+\.[a-z_]+ \{/.test(line));
      await expect.poll(() => events().length, { timeout: DELIVERY_TIMEOUT_MS }).toBe(1);
      const { data: milestones } = await server.ok('GET', `/v1/projects/${project.id}/milestones`);
      for (const status of ['submitted', 'approved']) await server.ok('PATCH', `/v1/milestones/${milestones[0].id}`, { body: { status } });
      await expect.poll(() => events().length, { timeout: DELIVERY_TIMEOUT_MS }).toBe(4);
      const told = events().map((line) => [line.split(' ', 1)[0], JSON.parse(line.slice(line.indexOf('{')))] as [string, Json]);
      const expected = [
        ['project.created', { projectId: project.id, name: 'Größe 📐', clientId: 'acme' }],
        ['milestone.submitted', expect.objectContaining({ milestoneId: milestones[0].id, amount: 150_000 })],
        ['milestone.approved', expect.objectContaining({ milestoneId: milestones[0].id })],
        ['payment.released', { projectId: project.id, milestoneId: milestones[0].id, amount: 150_000, currency: 'USD' }],
      ];
      expect(told.sort(([a], [b]) => a.localeCompare(b))).toEqual(expected.sort(([a], [b]) => String(a).localeCompare(String(b))));
      expect(
        receiver.lines().filter((line) => line.startsWith('gap') && /: \d+$/.test(line) && Number(line.split(' ').at(-1)) > 1_000),
      ).toEqual([]);

      const stranger = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
      const { secret } = endpoint;
      expect(await send(url, secret, { secret: stranger })).toBe(401);
      expect(await send(url, secret, { at: new Date(Date.now() - 600_000) })).toBe(401);
      expect(await send(url, secret, { headers: { 'webhook-id': 'evt_other' } })).toBe(401);
      expect(await send(url, secret, { headers: { 'webhook-signature': '' } })).toBe(401);
      expect(await send(url, secret, { headers: { 'webhook-signature': 'v1,AAAA v2,x' } })).toBe(401);
      expect(await send(url, secret, { headers: { 'webhook-timestamp': 'soon' } })).toBe(401);
      expect(events()).toHaveLength(4);

      // While a secret rotates there are two signatures; the one that fits counts.
      const two = new Webhook(stranger).sign('evt_two', new Date(), '{}');
      const fits = new Webhook(secret).sign('evt_two', new Date(), '{"event":"project.created","data":{}}');
      const rotating = {
        id: 'evt_two',
        body: '{"event":"project.created","data":{}}',
        headers: { 'webhook-signature': `${two} ${fits}`, 'tranche-prev-seq': '2000' },
      };
      expect(await send(url, secret, rotating)).toBe(200);
      expect(await send(url, secret, rotating)).toBe(200);
      await expect.poll(() => receiver.lines()).toContain('had it already: evt_two');
      expect(receiver.lines()).toContain('gap: not here yet: 2000');
      expect(events()).toHaveLength(5);
      expect((await server.stop()).code).toBe(0);
    },
    START_TIMEOUT_MS + 90_000,
  );
});

type Script = () => CurlRequest[];

describe('the other pieces of the guide', () => {
  const [, verifier = '', reader = ''] = blocksOf(guide)
    .filter(({ language }) => language === 'ts')
    .map(({ text }) => text);

  test('the commands work when pasted: an endpoint is registered, told again what it missed, and the stream tells what happened', async () => {
    const key = someKey();
    const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: key });
    const variables = new Map([
      ['URL', server.url],
      ['KEY', key],
    ]);
    const blocks = blocksOf(guide).filter(({ language }) => language === 'sh');
    // Nothing is sent to strangers from here. -N only has curl print at once, which fetch does by itself.
    const [register, replay, repairs, stream, tryOut] = blocks.map(({ text }) => (): CurlRequest[] => {
      const script = text.replace('curl -N', 'curl').replace('https://example.com', 'http://127.0.0.1:9');
      return requestsOf(script, variables, (shown) => shown);
    }) as [Script, Script, Script, Script, Script];
    const play = async (script: Script): Promise<Json[]> =>
      Promise.all(
        script().map(async ({ url, method, headers, body }) => {
          const answer = await fetch(url, { method, headers, body });
          return { status: answer.status, ...((await answer.json()) as object) };
        }),
      );

    const [endpoint] = await play(register);
    expect(endpoint).toMatchObject({ status: 'enabled', url: 'http://127.0.0.1:9/webhooks', secret: expect.stringMatching(/^whsec_/) });
    variables.set('ENDPOINT', endpoint.id);
    await server.ok('POST', '/v1/projects', { body: { name: 'Website', client_id: 'acme' } });
    const deliveries = async (): Promise<Json[]> => (await server.ok('GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries`)).data;
    await expect.poll(async () => (await deliveries())[0]?.attempts, { timeout: DELIVERY_TIMEOUT_MS }).toBeGreaterThan(0);
    const [{ id, attempts }] = (await deliveries()) as [Json];
    variables.set('DELIVERY', id);
    expect(await play(replay)).toMatchObject([{ id, status: 'pending' }]);
    await expect.poll(async () => (await deliveries())[0]?.attempts, { timeout: DELIVERY_TIMEOUT_MS }).toBeGreaterThan(attempts);
    expect(await play(repairs)).toMatchObject([
      { action: 'replay', dry_run: true, matched: 0 },
      { action: 'recover', endpoint_id: endpoint.id },
    ]);

    const [tested, diagnosed] = await play(tryOut);
    expect(tested).toMatchObject({ object: 'webhook_test', endpoint_id: endpoint.id });
    expect(diagnosed).toMatchObject({ verdict: 'connection_failed' });

    const [streamed] = stream() as [CurlRequest];
    const ending = new AbortController();
    const answer = await fetch(streamed.url, { headers: streamed.headers, signal: ending.signal });
    let told = '';
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      told += Buffer.from(chunk).toString();
      if (told.includes('project.created')) break;
    }
    expect(told).toMatch(/id: 1\ndata: .*"project\.created"/);
    ending.abort();
    expect((await server.stop()).code).toBe(0);
  });

  test('what is signed with v1a verifies with the published keys, and nothing else does', async () => {
    const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() });
    const receiver = await openReceiver();
    const body = { url: receiver.url, signature_schemes: ['v1a'] };
    const { jwks_path: path } = await server.ok('POST', '/v1/webhook_endpoints', { body });
    await server.ok('POST', '/v1/projects', { body: { name: 'Größe 📐', client_id: 'acme' } });
    await until(() => receiver.received.length === 1);
    const directory = mkdtempSync(join(tmpdir(), 'tranche-guide-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    // The verifier as a program of its own: it is told what arrived and says what it thinks of it.
    const program =
      `${verifier}\nconst { keys, webhooks } = JSON.parse(process.env.TOLD ?? '');\nconst known = await readKeys(keys);\n` +
      'for (const { headers, body } of webhooks) console.log(isSigned(known, headers, Buffer.from(body)));\n';
    writeFileSync(join(directory, 'verify.mts'), program);
    const [{ headers, body: text }] = receiver.received as [Received];
    const webhooks = [
      { headers, body: text },
      { headers, body: text.replace('acme', 'evil') },
      { headers: { ...headers, 'webhook-id': 'evt_other' }, body: text },
      { headers: { ...headers, 'webhook-signature': 'v1,AAAA v1a,AAAA' }, body: text },
    ];
    const TOLD = JSON.stringify({ keys: `${server.url}${path}`, webhooks });
    const said = await promisify(execFile)(process.execPath, [join(directory, 'verify.mts')], { env: { PATH: process.env.PATH, TOLD } });
    expect(said.stdout.trim().split('\n')).toEqual(['true', 'false', 'false', 'false']);
    expect((await server.stop()).code).toBe(0);
  });

  test('the reader of the event log prints every event after the one it knows, over as many pages as there are', async () => {
    const key = someKey();
    const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: key });
    for (let n = 0; n < 120; n += 1) await server.ok('POST', '/v1/projects', { body: { name: `Project ${n}`, client_id: 'acme' } });
    const directory = mkdtempSync(join(tmpdir(), 'tranche-guide-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    writeFileSync(join(directory, 'read.mts'), reader);
    const env = { PATH: process.env.PATH, TRANCHE_URL: server.url, TRANCHE_API_KEY: key, AFTER_SEQ: '5' };
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'read.mts')], { env });
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(115);
    expect(lines[0]).toMatch(/^6 project\.created \{.*"name":"Project 5"/);
    expect(lines.at(-1)).toMatch(/^120 project\.created /);
    expect((await server.stop()).code).toBe(0);
  });

  test('the commands for the terminal forward what is made to happen to a receiver, signed', async () => {
    const key = someKey();
    const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: key });
    const receiver = await openReceiver();
    const variables = { TRANCHE_URL: server.url, TRANCHE_API_KEY: key };
    const script = blocksOf(guide).find(({ language }) => language === 'bash')?.text ?? '';
    const [listen = [], trigger = []] = script
      .trimEnd()
      .split('\n')
      .map((line) => line.replace('npm run tranche -- ', '').replace('http://localhost:3000/hook', receiver.url).split(' '));
    // It goes on until it is stopped, which the end of this test does.
    void tranche(listen, variables);
    // What happens before it listens is not forwarded, so events are made until one arrives.
    for (let tries = 0; tries < 20 && receiver.received.length === 0; tries += 1)
      expect(await tranche(trigger, variables)).toMatchObject({ code: 0 });
    await until(() => receiver.received.some(({ body }) => body.includes('"payment.released"')));
    const [first] = receiver.received as [Received];
    expect(first.headers['webhook-signature']).toMatch(/^v1,/);
    expect((await server.stop()).code).toBe(0);
  });

  test('every block of code on the page is one of those that are run here', () => {
    const marks = blocksOf(guide).map(({ language }) => language);
    expect(marks.sort()).toEqual(['bash', 'go', 'python', 'sh', 'sh', 'sh', 'sh', 'sh', 'ts', 'ts', 'ts']);
  });
});
