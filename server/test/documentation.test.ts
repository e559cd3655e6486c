// What the documents promise is so: names and links lead somewhere, every rule has its test, and the README's story works when pasted.
// Reads the documents of the repository; the story runs against a real server of its own.

import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { settings } from '../src/config.ts';
import { blocksOf, differences, proseOf, requestsOf, type ShownMessage, shownMessage } from './support/readme-story.ts';
import { dataDirectory, type ServerProcess, someKey, startServer } from './support/server-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const outside = ['node_modules', 'data'];
const files = (pattern: string): string[] => globSync(pattern, { cwd: root, exclude: (name) => outside.includes(String(name)) }).sort();

const documents = files('**/*.md');
const sources = [
  ...files('server/src/**/*.ts'),
  ...files('server/src/**/*.sql'),
  ...files('{scripts,sdks/testing,dashboard/src}/**/*.ts'),
].map((path) => ({ path, text: read(path) }));

describe('docs/invariants.md', () => {
  const rows = Array.from(read('docs/invariants.md').matchAll(/^\| (I-\d+)(?: ✓)? \|.*\| ([^|]+) \|$/gm), ([, number, testedBy]) => ({
    number: number as string,
    tests: Array.from((testedBy as string).matchAll(/`([^`]+)`/g), ([, path]) => path as string),
  }));
  const named = files('{server,demo,scripts,bench}/**/*.test.ts').map((path) => ({ path, numbers: numbersInNames(read(path)) }));

  test('numbers its rules from 1 without a gap', () => {
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, i) => `I-${i + 1}`));
  });

  test.each(rows)('$number is in the name of a test of every file it lists', ({ number, tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const path of tests) expect(named.find((file) => file.path === path)?.numbers, path).toContain(number);
  });

  test('no test carries the number of a rule that does not exist', () => {
    const known = new Set(rows.map(({ number }) => number));
    expect(
      named.flatMap(({ path, numbers }) => numbers.filter((number) => !known.has(number)).map((number) => `${path}: ${number}`)),
    ).toEqual([]);
  });
});

/** The rules named at the end of the names of tests. */
function numbersInNames(source: string): string[] {
  const names = source.matchAll(/\btest(?:\.\w+\([^)]*\)+)?\(\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`)/g);
  return Array.from(names, ([, single, double, template]) => single ?? double ?? template ?? '').flatMap(
    (name) => name.match(/\bI-\d+\b/g) ?? [],
  );
}

describe.each(['ARCHITECTURE.md', 'docs/invariants.md'])('%s', (document) => {
  const prose = proseOf(read(document));
  const spans = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span]) => span as string);

  test('names only files that exist', () => {
    const paths = spans.filter((span) => /^[\w.-]+(\/[\w.-]+)*\/?$/.test(span) && /\/|\.(md|ts|json)$/.test(span));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('names only functions, types, tables and constants that exist', () => {
    const names = spans.flatMap((span) =>
      !/\.(md|ts)$/.test(span) && /^[A-Za-z_]\w*(\.[a-z]\w*)?$/.test(span) && /[a-z]/.test(span) ? span.split('.') : [],
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !sources.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text)))).toEqual([]);
  });

  test('says rightly in which file a name is', () => {
    const places = Array.from(prose.matchAll(/((?:`\w+`(?:,\s+|\s+and\s+)?)+)\s+(?:in\s+|\()`([\w./-]+\.(?:ts|sql))`/g));
    expect(places.length).toBeGreaterThan(10);
    const wrong = places.flatMap(([, names, path]) =>
      Array.from((names as string).matchAll(/`(\w+)`/g), ([, name]) => name as string)
        .filter((name) => !new RegExp(`(function|const|class|interface|type) ${name}\\b`).test(read(path as string)))
        .map((name) => `${name} is not in ${path}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('links', () => {
  test.each(documents)('of %s lead somewhere', (document) => {
    const targets = Array.from(proseOf(read(document)).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target as string);
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(root, document) : resolve(root, dirname(document), path);
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
});

/** As the common renderers make them of headings. */
const anchorsOf = (markdown: string): string[] =>
  Array.from(proseOf(markdown).matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('settings', () => {
  /** Read by the commands that call a server over its API, besides the settings of the service. */
  const ofCommands = ['TRANCHE_URL'];
  const words = new Set(['GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'LISTEN', 'COMMIT', 'NOTIFY']);

  test.each(['README.md', ...files('docs/guides/*.md')])('%s names no setting that does not exist', (document) => {
    const text = read(document);
    const inCode = Array.from(proseOf(text).matchAll(/`([A-Z][A-Z_]+)(?:=[^`]*)?`/g), ([, name]) => name as string);
    const exported = Array.from(text.matchAll(/\bexport ([A-Z_]+)=/g), ([, name]) => name as string);
    const shell = new Set([...text.matchAll(/^([A-Z_]+)=|process\.env\.([A-Z_]+)/gm)].map(([, assigned, used]) => assigned ?? used));
    const unknown = [...inCode.filter((name) => !words.has(name) && !shell.has(name)), ...exported].filter(
      (name) => !(name in settings) && !ofCommands.includes(name),
    );
    expect(unknown).toEqual([]);
  });
});

const STEP_TIMEOUT_MS = 20_000;

test("the README's story works when pasted: every status, header and field is as shown, and the receiver is told", async () => {
  const key = someKey();
  const server = await startServer({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: key });
  const port = await freePort();
  const markdown = read('README.md').replaceAll('9000', String(port)).replaceAll('http://127.0.0.1:8080', server.url);
  const seen = new Map([['tr_live_…', key]]);
  const variables = new Map<string, string>();
  let last: Response | null = null;
  let delivery: ShownMessage | null = null;
  let told: (() => Promise<void>) | null = null;
  let received: (() => Promise<Delivery>) | null = null;
  let answers = 0;

  for (const { language, text } of blocksOf(markdown)) {
    if (language === 'sh' && /^(curl |[A-Z]+=)/m.test(text)) {
      for (const { method, url, headers, body } of requestsOf(text, variables, (shown) => seen.get(shown) ?? shown)) {
        if (last !== null) expect(last.status).toBeLessThan(300);
        last = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(STEP_TIMEOUT_MS) });
      }
    } else if (language === 'http' && text.startsWith('HTTP/')) {
      const shown = shownMessage(text);
      const answer = last as unknown as Response;
      const real = {
        status: `HTTP/1.1 ${answer.status} ${answer.statusText}`,
        headers: Object.fromEntries(answer.headers),
        body: await answer.json(),
      };
      expect([real.status, ...differences(shown.body, real.body, seen)], text).toEqual([shown.first]);
      for (const [name, value] of Object.entries(shown.headers)) expect(withoutIds(real.headers[name] ?? ''), name).toBe(withoutIds(value));
      last = null;
      answers += 1;
    } else if (language === 'http') delivery = shownMessage(text);
    else if (language === 'js') {
      told = await startReceiver(text, seen.get('whsec_…') as string);
      received = await captureReleased(server);
    }
  }

  expect(answers).toBeGreaterThan(10);
  await told?.();
  const real = (await received?.()) as Delivery;
  const shown = delivery as unknown as ShownMessage;
  expect(differences(shown.body, JSON.parse(real.body), new Map())).toEqual([]);
  for (const name of Object.keys(shown.headers)) expect(real.headers).toHaveProperty(name);
  for (const name of ['tranche-seq', 'tranche-prev-seq', 'tranche-attempt']) expect(real.headers[name], name).toBe(shown.headers[name]);
  expect((await server.stop()).code).toBe(0);
});

const withoutIds = (text: string): string => text.replace(/(req|[a-z]{3})_[0-9a-z_]{10,}/g, '$1_…');

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Runs the README's receiver; resolves when it listens, with what waits until it has printed the release. */
async function startReceiver(code: string, secret: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  const has = (words: string) => (): Promise<void> =>
    expect.poll(() => printed, { timeout: STEP_TIMEOUT_MS, message: `the receiver of the README, waiting for ${words}` }).toContain(words);
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await has('listening')();
  return has('payment.released');
}

/** A second subscriber, which keeps the headers that the README's does not print. */
async function captureReleased(server: ServerProcess): Promise<() => Promise<Delivery>> {
  const deliveries: Delivery[] = [];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    deliveries.push({ headers: request.headers, body });
    response.writeHead(200).end();
  });
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void receiver.close().closeAllConnections());
  await server.ok('POST', '/v1/webhook_endpoints', {
    body: { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks` },
  });
  const released = (): Delivery | undefined => deliveries.find(({ body }) => body.includes('payment.released'));
  return async () => {
    await expect.poll(released, { timeout: STEP_TIMEOUT_MS }).toBeDefined();
    return released() as Delivery;
  };
}

async function freePort(): Promise<number> {
  const probe = createTcpServer();
  await new Promise<void>((listening) => probe.listen(0, '127.0.0.1', listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}
