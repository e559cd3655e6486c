// The samples that the reference shows for each operation that a key may call, in every language: they are run as they stand against a real server, on records of
// their own, with the ids of the examples replaced.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CodeSample } from '../../scripts/code-samples/samples.ts';
import { type Document, operationsOf, streamsOf } from '../../scripts/sdk-operations.ts';
import { openTestEnvironment, type TestEnvironment } from './environment.ts';
import { findGo, findPython } from './toolchains.ts';

const run = promisify(execFile);
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const samples = JSON.parse(readFileSync(pathOf('../../server/src/http/code-samples.json'), 'utf8')) as Record<string, CodeSample[]>;
const document = JSON.parse(readFileSync(pathOf('../../openapi.json'), 'utf8')) as Document;
const operations = [...operationsOf(document), ...streamsOf(document)].filter(({ isForKeys }) => isForKeys);
/** All but the one after which no other would be answered. */
const operationIds = operations.map(({ operationId }) => operationId).filter((operationId) => operationId !== 'closeWorkspace');

const RUN_TIMEOUT_MS = 180_000;
const DELIVERY_WAIT_MS = 20_000;
const POLL_MS = 50;
const REPAIRS_AT_ONCE = 10;
const MAX_REPAIR_ROUNDS = 10;

let environment: TestEnvironment;
let directory: string;
let lasting: Record<'dlv' | 'evt' | 'whr', string>;

beforeAll(async () => {
  // Three languages, a few dozen operations and the records for each: more than a key may ask for in a minute.
  environment = await openTestEnvironment({ RATE_LIMIT_PER_MINUTE: '1000000' });
  directory = mkdtempSync(join(tmpdir(), 'tranche-samples-'));
  lasting = { ...(await makeDelivery()), ...(await makeRepair()) };
}, 240_000);
afterAll(async () => {
  await environment?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function call(method: string, path: string, body?: unknown): Promise<Record<string, string> & { data: Record<string, string>[] }> {
  const { TRANCHE_BASE_URL, TRANCHE_API_KEY } = environment.variables;
  const headers = { authorization: `Bearer ${TRANCHE_API_KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(`${TRANCHE_BASE_URL}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as never;
}

/** To an address where nobody listens: it is never delivered, so it can be sent again and cancelled as often as there are samples. */
async function makeDelivery(): Promise<Record<'dlv' | 'evt', string>> {
  const endpoint = await call('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:1/nobody' });
  await call('POST', '/v1/projects', { name: 'n', client_id: 'c' });
  const end = Date.now() + DELIVERY_WAIT_MS;
  for (;;) {
    const [first] = (await call('GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries`)).data;
    if (first !== undefined && (await call('GET', `/v1/deliveries/${first.id}/attempts`)).data.length > 0)
      return { dlv: first.id as string, evt: first.event_id as string };
    if (Date.now() > end) throw new Error('no attempt at a delivery was made in time');
    await wait(POLL_MS);
  }
}

/** Stopped before its turn came, and so it stays: one that is stopped may be stopped again, while one that is completed may not. */
async function makeRepair(): Promise<Record<'whr', string>> {
  const ask = (): Promise<Record<string, unknown>> =>
    call('POST', '/v1/webhook_repairs', { action: 'cancel', event_types: ['webhook_endpoint.disabled'] });
  for (let round = 0; round < MAX_REPAIR_ROUNDS; round++) {
    // Their turns come one after another, so that those at the end of a queue are still open.
    const asked = await Promise.all(Array.from({ length: REPAIRS_AT_ONCE }, ask));
    const stopped = await Promise.all(
      asked.reverse().map(({ id }) => call('POST', `/v1/webhook_repairs/${id}/stop`, {}).catch(() => null)),
    );
    const one = stopped.find((repair) => repair !== null);
    if (one !== undefined) return { whr: one?.id as string };
  }
  throw new Error('every repair was completed before it could be stopped');
}

let members = 0;
/** Somebody who signed up with an invitation, and an invitation that nobody has used. */
async function makeMember(): Promise<Record<'mem' | 'ivt', string>> {
  members += 1;
  const n = members;
  const invite = (email: string) => call('POST', '/v1/invitations', { email, role: 'viewer' });
  const { link } = await invite(`member${n}@example.com`);
  const who = { email: `member${n}@example.com`, password: 'correct horse battery', name: 'Somebody' };
  const { account } = await call('POST', '/v1/account/sign_up', { ...who, invitation_token: link?.split('#token=')[1] });
  const { workspaces } = account as unknown as { workspaces: { member_id: string }[] };
  return { mem: workspaces[0]?.member_id as string, ivt: (await invite(`invited${n}@example.com`)).id as string };
}

/** Fresh records for one sample: it may release, rotate or delete them. */
async function records(source: string): Promise<Record<string, string>> {
  const milestones = [
    { title: 'Design', amount: 1 },
    { title: 'Launch', amount: 2 },
  ];
  const project = await call('POST', '/v1/projects', { name: 'n', client_id: 'c', release: 'manual', milestones });
  const [open, done] = (await call('GET', `/v1/projects/${project.id}/milestones`)).data;
  for (const status of ['submitted', 'approved']) await call('PATCH', `/v1/milestones/${done?.id}`, { status });
  const [payment] = (await call('GET', `/v1/projects/${project.id}/payments`)).data;
  const endpoint = await call('POST', '/v1/webhook_endpoints', { url: `${environment.variables.TRANCHE_RECEIVER_URL}/unheard` });
  const key = await call('POST', '/v1/api_keys', { name: 'k' });
  const ids = { prj: project.id, mil: open?.id, pay: payment?.id, inv: payment?.invoice_id, whe: endpoint.id, key: key.id };
  return { ...(ids as Record<string, string>), ...lasting, ...(/\b(mem|ivt)_/.test(source) ? await makeMember() : {}) };
}

/** The samples of a language with the ids of records that exist, by operation. */
async function filledIn(lang: CodeSample['lang']): Promise<[operationId: string, source: string][]> {
  return Promise.all(
    operationIds.map(async (operationId): Promise<[string, string]> => {
      const source = samples[operationId]?.find((sample) => sample.lang === lang)?.source as string;
      const ids = await records(source);
      return [operationId, source.replace(/\b([a-z]{3})_[0-9a-z]{26}\b/g, (id, kind: string) => ids[kind] ?? id)];
    }),
  );
}

/** Runs one program that runs all samples and prints `ok <operationId>` or `not ok <operationId> <why>` for each. */
async function outcomes(command: string, words: readonly string[], cwd: string): Promise<Map<string, string>> {
  const env = {
    ...process.env,
    ...environment.variables,
    PYTHONPATH: pathOf('../python/src'),
    GOFLAGS: '-mod=mod',
    GOPROXY: 'off',
    GOWORK: 'off',
  };
  const { stdout, stderr } = await run(command, words, { cwd, env, timeout: RUN_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const found = new Map<string, string>();
  for (const [, operationId, why] of stdout.matchAll(/^(?:not )?ok (\w+)(?: (.*))?$/gm)) found.set(operationId as string, why ?? '');
  for (const operationId of operationIds)
    if (!found.has(operationId)) found.set(operationId, `It was not run: ${stdout}${stderr}`.slice(0, 2_000));
  return found;
}

async function runTypescript(): Promise<Map<string, string>> {
  const folder = join(directory, 'typescript');
  mkdirSync(folder);
  for (const [operationId, source] of await filledIn('TypeScript')) {
    writeFileSync(
      join(folder, `${operationId}.ts`),
      source.replace("'@tranche/client'", JSON.stringify(pathOf('../typescript/src/index.ts'))),
    );
  }
  const driver = `for (const id of ${JSON.stringify(operationIds)}) await import(\`./\${id}.ts\`).then(() => console.log(\`ok \${id}\`), (error) => console.log(\`not ok \${id} \${error}\`));\n`;
  writeFileSync(join(folder, 'all.mjs'), driver);
  return outcomes(process.execPath, ['all.mjs'], folder);
}

async function runPython(python: string): Promise<Map<string, string>> {
  const folder = join(directory, 'python');
  mkdirSync(folder);
  for (const [operationId, source] of await filledIn('Python')) writeFileSync(join(folder, `${operationId}.py`), source);
  const driver = `import runpy
for id in ${JSON.stringify(operationIds)}:
    try:
        runpy.run_path(f"{id}.py", run_name="__main__")
        print("ok", id, flush=True)
    except Exception as error:
        print("not ok", id, repr(error).replace("\\n", " "), flush=True)
`;
  writeFileSync(join(folder, 'all.py'), driver);
  return outcomes(python, ['all.py'], folder);
}

async function runGo(go: string): Promise<Map<string, string>> {
  const folder = join(directory, 'go');
  mkdirSync(folder);
  const filled = await filledIn('Go');
  const indented = (source: string): string => source.trimEnd().replace(/^(?=.)/gm, '\t');
  const functions = filled.map(([id, source]) => `func ${id}(ctx context.Context) error {\n${indented(source)}\n\treturn nil\n}\n`);
  const calls = operationIds.map((id) => `\treport("${id}", ${id}(ctx))\n`).join('');
  const isTimed = functions.some((text) => text.includes('time.'));
  const program = `package main

import (
	"context"
	"fmt"
	"os"
${isTimed ? '\t"time"\n' : ''}
	"tranche.example/tranche"
)

${functions.join('\n')}
func report(id string, err error) {
	if err != nil {
		fmt.Println("not ok", id, err)
	} else {
		fmt.Println("ok", id)
	}
}

func main() {
	ctx := context.Background()
${calls}}
`;
  writeFileSync(join(folder, 'main.go'), program);
  const modulePath = /^module (\S+)$/m.exec(readFileSync(pathOf('../go/go.mod'), 'utf8'))?.[1] as string;
  const manifest = `module samples\n\ngo 1.23\n\nrequire ${modulePath} v0.0.0\n\nreplace ${modulePath} => ${pathOf('../go')}\n`;
  writeFileSync(join(folder, 'go.mod'), manifest);
  writeFileSync(join(folder, 'main.go'), program.replace('"tranche.example/tranche"', `"${modulePath}"`));
  return outcomes(go, ['run', '.'], folder);
}

test('every operation of the document that a key may call has a sample in each language, and the document that is served holds them', () => {
  const named = new Set(operations.map(({ operationId }) => operationId));
  const served = Object.entries(document.paths)
    .flatMap(([path, item]) => (path.startsWith('/v1/') ? Object.values(item) : []))
    .filter(({ operationId }) => named.has(operationId));
  expect(served).toHaveLength(named.size);
  for (const operation of served) {
    const { operationId } = operation;
    expect(
      samples[operationId]?.map(({ lang }) => lang),
      operationId,
    ).toEqual(['TypeScript', 'Python', 'Go']);
    expect(operation, operationId).toHaveProperty('x-codeSamples', samples[operationId]);
  }
  expect(Object.keys(samples).toSorted()).toEqual(served.map(({ operationId }) => operationId).toSorted());
});

const [python, go] = [findPython(), findGo()];
const languages: readonly [name: string, missing: string | null, runAll: () => Promise<Map<string, string>>][] = [
  ['TypeScript', null, runTypescript],
  ['Python', 'missing' in python ? python.missing : null, () => runPython('path' in python ? python.path : '')],
  ['Go', 'missing' in go ? go.missing : null, () => runGo('path' in go ? go.path : '')],
];

for (const [name, missing, runAll] of languages) {
  describe.skipIf(missing !== null)(`samples in ${name}${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
    let found: Map<string, string>;
    beforeAll(async () => {
      found = await runAll();
    }, RUN_TIMEOUT_MS + 60_000);
    test.each(operationIds)('%s runs', (operationId) => {
      expect(found.get(operationId)).toBe('');
    });
  });
}
