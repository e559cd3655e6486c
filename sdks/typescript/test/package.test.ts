// The package as it is published: what is in it, how big it is, that it can be used from outside, and that it runs where there is only `fetch`.
// Builds it into a temporary directory; publishes nothing.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Document } from '../../../scripts/sdk-operations.ts';
import { openTestEnvironment } from '../../testing/environment.ts';
import type { Scenario, Step, Surroundings } from './scenario.ts';

const run = promisify(execFile);
const packageDirectory = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const MAX_BUNDLE_BYTES = 15_000;

let directory: string;
let installed: string;
let packed: readonly string[];

/** Packs a copy, so that a build of the developer in `dist` is left alone, and lays it out as npm would in a project. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tranche-package-'));
  const copy = join(directory, 'copy');
  for (const name of ['package.json', 'README.md', 'LICENSE']) cpSync(join(packageDirectory, name), join(copy, name));
  await run(process.execPath, [join(packageDirectory, 'build.ts'), join(copy, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], { cwd: copy });
  const output = JSON.parse(stdout) as unknown;
  const [pack] = (Array.isArray(output) ? output : Object.values(output as object)) as { filename: string; files: { path: string }[] }[];
  packed = (pack?.files ?? []).map(({ path }) => path);
  installed = join(directory, 'project/node_modules/@tranche/client');
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(directory, pack?.filename as string), '-C', installed, '--strip-components=1']);
}, 240_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: join(directory, 'project') },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    platform: 'neutral',
  });
  return outputFiles[0]?.text as string;
}

test('it holds the modules, their types, the README and the licence, and nothing else', () => {
  const others = packed.filter((path) => !/^dist\/(generated\/)?[a-z0-9-]+\.(js|d\.ts)$/.test(path));
  expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
  expect(packed).toContain('dist/index.js');
  expect(packed).toContain('dist/index.d.ts');
});

test('it depends on nothing at run time, and its version is that of the API', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies'])
    expect(manifest).not.toHaveProperty(field);
  const root = JSON.parse(readFileSync(join(packageDirectory, '../../package.json'), 'utf8')) as Record<string, unknown>;
  expect(manifest.version).toBe(root.version);
  expect(readFileSync(join(installed, 'dist/generated/version.js'), 'utf8')).toContain(`'${String(root.version)}'`);
});

test('all of it is under 15 KB minified and compressed, and imports nothing', async () => {
  const code = await bundle("export * from '@tranche/client';");
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(MAX_BUNDLE_BYTES);
  expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*\(|\brequire\s*\(|node:/);
});

test('who only verifies webhooks bundles neither the client nor its resources', async () => {
  const code = await bundle("import { verifyWebhook } from '@tranche/client'; console.log(verifyWebhook);");
  expect(code).not.toContain('/v1/');
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(3_000);
});

describe('a project that uses it', () => {
  const program = `
    import { NotFoundError, Tranche, type WebhookEvent } from '@tranche/client';
    const tranche = new Tranche({ apiKey: 'tr_live_x' });
    export async function use(): Promise<number> {
      const project = await tranche.projects.create({ name: 'Website', client_id: 'acme' });
      let total = 0;
      for await (const payment of tranche.payments.list({ project: project.id })) total += payment.amount;
      const { response } = await tranche.projects.retrieve(project.id).withResponse();
      return total + (response.rateLimit?.remaining ?? 0);
    }
    export const amountOf = (event: WebhookEvent): number | string => (event.event === 'payment.released' ? event.data.amount : event.event);
    export const isMissing = (error: unknown): boolean => error instanceof NotFoundError && error.code === 'not_found';
    // @ts-expect-error A name is required.
    export const wrong = tranche.projects.create({ client_id: 'acme' });
    // @ts-expect-error There is no such status.
    export const wrongStatus = tranche.milestones.update('mil_1', { status: 'done' });
  `;

  test.each([
    ['nodenext', ['es2022', 'dom', 'dom.iterable'], []],
    ['bundler', ['es2022', 'dom', 'dom.iterable'], []],
    ['nodenext', ['es2023'], ['node']],
  ])('compiles with resolution %s, libraries %j and types %j, declarations checked', async (moduleResolution, lib, types) => {
    const project = join(directory, 'project');
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    writeFileSync(join(project, 'program.ts'), program);
    const typeRoots = [join(packageDirectory, '../../node_modules/@types')];
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: types.length > 0,
      noEmit: true,
      module,
      moduleResolution,
      target: 'es2022',
      lib,
      types,
      typeRoots,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const { stdout } = await run(process.execPath, [compiler, '-p', project]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });
});

/** What the README leaves to its reader. */
const leftToTheReader = `
  import type * as sdk from '@tranche/client';
  declare global {
    const tranche: sdk.Tranche;
    const project: sdk.Project;
    const payment: sdk.Payment;
    const id: string;
    const signal: AbortSignal;
    const rawBody: Uint8Array;
    const headers: Headers;
    const secret: string;
    const load: () => Promise<number | undefined>;
    const save: (seq: number) => Promise<void>;
    const book: (amount: number, id: string) => Promise<void>;
    const onEvent: (event: sdk.WebhookEvent) => Promise<void>;
    const app: {
      post(path: string, handler: (request: sdk.NodeRequest, response: sdk.NodeResponse, next: (error: unknown) => void) => Promise<void>): void;
      register(plugin: (instance: sdk.FastifyLike) => Promise<void>): Promise<void>;
    };
    type WebhookEvent = sdk.WebhookEvent;
  }
`;

test('every piece of code in the README compiles', async () => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const pieces = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code as string);
  expect(pieces.length).toBeGreaterThan(8);
  const project = join(directory, 'project');
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(join(project, 'reader.d.ts'), leftToTheReader);
  for (const [index, code] of pieces.entries()) writeFileSync(join(project, `piece${index + 1}.ts`), `${code}\nexport {};\n`);
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
  };
  const typeRoots = [join(packageDirectory, '../../node_modules/@types')];
  const files = ['reader.d.ts', ...pieces.map((_, index) => `piece${index + 1}.ts`)];
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots }, files }));
  const { stdout } = await run(process.execPath, [compiler, '-p', project]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

/** What a runtime offers that has `fetch` and the language, and none of Node: no process, no Buffer, no modules. */
function fetchOnlyGlobals(): Record<string, unknown> {
  return {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    ...{ Headers, Request, Response, AbortController, AbortSignal, TextEncoder, TextDecoder, atob, btoa, setTimeout, clearTimeout },
    crypto: { randomUUID: () => crypto.randomUUID() },
  };
}

test('the whole scenario, and a stream, go through in a runtime that has only fetch', async () => {
  const environment = await openTestEnvironment();
  try {
    const code = await build({
      stdin: {
        contents: `import * as sdk from ${JSON.stringify(join(installed, 'dist/index.js'))}; import { Scenario } from './scenario.ts'; globalThis.begin = (given) => new Scenario({ sdk, ...given }); globalThis.sdk = sdk;`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
      },
      bundle: true,
      format: 'iife',
      write: false,
      platform: 'neutral',
    });
    const context = vm.createContext(fetchOnlyGlobals()) as {
      begin?: (given: Omit<Surroundings, 'sdk'>) => Scenario;
      sdk?: Surroundings['sdk'];
    };
    vm.runInContext(code.outputFiles[0]?.text as string, context);
    const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    const scenario = context.begin?.({ document: read('../../../openapi.json') as Document, variables: environment.variables }) as Scenario;
    const { steps } = read('../../scenarios/scenario.json') as { readonly steps: readonly Step[] };
    expect(steps.length).toBeGreaterThanOrEqual(40);
    for (const step of steps) {
      await scenario.play(step).catch((error: unknown) => {
        throw new Error(`${step.name}: ${String(error)}`);
      });
    }
    const { TRANCHE_API_KEY: apiKey, TRANCHE_BASE_URL: baseUrl } = environment.variables;
    const { Tranche } = context.sdk as Surroundings['sdk'];
    const seqs: number[] = [];
    for await (const { seq } of new Tranche({ apiKey, baseUrl }).events.stream({ after_seq: 0 })) if (seqs.push(seq) === 3) break;
    expect(seqs).toEqual([1, 2, 3]);
  } finally {
    await environment.close();
  }
}, 240_000);
