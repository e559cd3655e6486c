// The whole service for tests: the real routes, lane and store on a fresh database, called without a socket.
// Composed by the same functions as in production; only the database and the configuration are the test's own.

import { randomBytes, randomFillSync } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { composeService, type Service } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { hashKeySecret, keyHint, makeKeySecret } from '../../src/domain/api-key.ts';
import { GENESIS_HASH } from '../../src/domain/event.ts';
import type { Uuid } from '../../src/domain/ids.ts';
import { allScopes, type Scope } from '../../src/domain/scopes.ts';
import { assembleStore, newId, type Store } from '../../src/open-store.ts';
import { verifyBooks } from '../../src/operations/verify.ts';
import { apiKeyTable } from '../../src/store/api-keys.ts';
import { createCipher } from '../../src/store/cipher.ts';
import type { Database } from '../../src/store/database.ts';
import { insertRows } from '../../src/store/tables.ts';
import { insertWorkspace } from '../../src/store/workspaces.ts';
import { testDatabases } from './databases.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS';

export interface CallOptions {
  readonly body?: unknown;
  /** Sent instead of a JSON body, as it is. */
  readonly raw?: string | Buffer;
  /** The secret to send; null sends none. By default the full-access key of the first workspace. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; a wrong guess fails the test.
export type Json = any;

export interface CallResult {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly body: Json;
  readonly text: string;
}

export interface TestApp {
  readonly service: Service;
  readonly store: Store;
  readonly database: Database;
  readonly workspaceId: Uuid;
  readonly key: string;
  call(method: Method, path: string, options?: CallOptions): Promise<CallResult>;
  /** Calls and insists on a success. */
  ok(method: Method, path: string, options?: CallOptions): Promise<Json>;
  addWorkspace(): Promise<{ id: Uuid; key: string }>;
  addKey(workspaceId: Uuid, scopes?: readonly Scope[]): Promise<string>;
  /** Every fault that `tranche verify` finds. */
  faults(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface TestAppOptions {
  readonly database?: 'embedded' | 'PostgreSQL';
  readonly limitPerMinute?: number;
  /** Where webhooks may go; anywhere by default. */
  readonly network?: 'public' | 'any';
  /** Whether the worker delivers. */
  readonly deliver?: boolean;
  /** Where to log; nowhere by default. */
  readonly log?: Logger;
  /** Other settings, as they stand in the environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const wanted = testDatabases.find((candidate) => candidate.name === (options.database ?? 'embedded'));
  if (wanted === undefined || !wanted.available) throw new Error(`no test database: ${wanted?.reason}`);
  const opened = await wanted.open();
  const { database } = opened;
  const log = options.log ?? pino({ level: 'silent' });
  const patience = options.environment?.OVERLOAD_WAIT_MS;
  // Without a word only the hard limits hold: a test that sends thousands at once means to.
  const lanes = { LANES: 1, ...(patience === undefined ? {} : { OVERLOAD_WAIT_MS: Number(patience) }) };
  const store = assembleStore(database, createCipher(randomBytes(32)), lanes, log);
  const config = {
    ...readConfig(options.environment ?? {}),
    RATE_LIMIT_PER_MINUTE: options.limitPerMinute ?? 1_000_000,
    WEBHOOK_CONCURRENCY: 20,
    WEBHOOK_NETWORK: options.network ?? ('any' as const),
    HOST: '127.0.0.1',
  };
  const service = composeService({ ...store, close: () => store.lane.close() }, config, '0.0.0-test', log);
  await service.app.ready();
  if (options.deliver === true) await service.start();

  async function addKey(workspaceId: Uuid, scopes: readonly Scope[] = allScopes): Promise<string> {
    const secret = makeKeySecret((bytes) => randomFillSync(bytes));
    const key = {
      id: newId(),
      workspaceId,
      name: 'test',
      hash: hashKeySecret(secret),
      hint: keyHint(secret),
      scopes,
      expiresAt: null,
      revokedAt: null,
      createdAt: new Date(),
    };
    await insertRows(database, apiKeyTable, [key]);
    return secret;
  }
  async function addWorkspace(): Promise<{ id: Uuid; key: string }> {
    const workspace = { id: newId(), name: 'test', defaultCurrency: 'USD', createdAt: new Date() };
    await database.transaction((transaction) => insertWorkspace(transaction, workspace, GENESIS_HASH));
    return { id: workspace.id, key: await addKey(workspace.id) };
  }
  const first = await addWorkspace();

  async function call(method: Method, path: string, { body, raw, key = first.key, headers = {} }: CallOptions = {}): Promise<CallResult> {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    // What has no end is read to its first words and then left; all else to its end.
    const mayStream = method === 'GET' && /^\/v1\/events\/stream(\?|$)/.test(path);
    const answer = await service.app.inject({
      method,
      url: path,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { payload: sent }),
      ...(mayStream ? { payloadAsStream: true } : {}),
    });
    const text = mayStream ? await readStart(answer.stream()) : answer.payload;
    if (mayStream) answer.raw.res.destroy();
    const isJson = /json/.test(String(answer.headers['content-type'] ?? '')) && text !== '';
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string | undefined>,
      body: isJson ? JSON.parse(text) : null,
      text,
    };
  }

  return {
    service,
    store,
    database,
    workspaceId: first.id,
    key: first.key,
    call,
    async ok(method, path, callOptions) {
      const result = await call(method, path, callOptions);
      if (result.status >= 300) throw new Error(`${method} ${path}: ${result.status} ${result.text}`);
      return result.body;
    },
    addWorkspace,
    addKey,
    async faults() {
      const reports = await verifyBooks(database, [], () => {});
      return reports.flatMap((report) => report.faults.map((fault) => `${report.workspace}: ${fault}`));
    },
    async stop() {
      await service.stop();
      await opened.close();
    },
  };
}

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  for await (const chunk of body) return chunk.toString();
  return '';
}

/** A project with one milestone, brought to a status the way a client would. */
export async function bringMilestone(
  app: TestApp,
  status: 'pending' | 'submitted' | 'approved',
  project: object = {},
  milestone: object = {},
): Promise<{ project: Json; milestone: Json }> {
  const made = await app.ok('POST', '/v1/projects', {
    body: { name: 'Website', client_id: 'acme', milestones: [{ title: 'Design', amount: 150_000, ...milestone }], ...project },
  });
  const list = await app.ok('GET', `/v1/projects/${made.id}/milestones`);
  let current = list.data[0];
  if (status !== 'pending') current = await app.ok('PATCH', `/v1/milestones/${current.id}`, { body: { status: 'submitted' } });
  if (status === 'approved') current = await app.ok('PATCH', `/v1/milestones/${current.id}`, { body: { status: 'approved' } });
  return { project: made, milestone: current };
}
