// A server for the tests of this layer: real mounting and real limits over keys and leases that live in memory.
// For tests only; nothing of it runs in the service.

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createKeyCache } from '../accounts/key-cache.ts';
import { createRateLimit } from '../accounts/rate-limit.ts';
import { type ApiKey, hashKeySecret, keyHint } from '../domain/api-key.ts';
import { allScopes, type Scope } from '../domain/scopes.ts';
import { leaseSize } from '../store/rate-leases.ts';
import type { Route } from './route.ts';
import { buildServer, type ServerOptions } from './server.ts';

export const WORKSPACE = '01993c5a-8f00-7000-8000-000000000001';
export const NOW_MS = Date.UTC(2026, 2, 2, 9, 30, 15);

export function makeKey(secret: string, change: Partial<ApiKey> = {}): ApiKey {
  return {
    id: `01993c5a-8f00-7000-8000-${randomBytes(6).toString('hex')}`,
    workspaceId: WORKSPACE,
    name: 'test',
    hash: hashKeySecret(secret),
    hint: keyHint(secret),
    scopes: allScopes,
    expiresAt: null,
    revokedAt: null,
    createdAt: new Date(0),
    ...change,
  };
}

/** Leases as the table grants them, by key and minute. */
export function memoryLeases() {
  const used = new Map<string, number>();
  return async ({ keyId, minute, limit }: { keyId: string; minute: number; limit: number }): Promise<number | null> => {
    const before = used.get(`${keyId} ${minute}`) ?? 0;
    if (before >= limit) return null;
    const after = before + leaseSize(before, limit);
    used.set(`${keyId} ${minute}`, after);
    return after;
  };
}

export interface TestServer {
  readonly app: FastifyInstance;
  /** Every line of the log, parsed. */
  readonly log: Record<string, unknown>[];
  readonly keys: Map<string, ApiKey>;
  /** Makes a key and returns its Authorization header. */
  authorize(scopes?: readonly Scope[], change?: Partial<ApiKey>): { authorization: string };
}

export interface TestServerOptions extends Partial<Omit<ServerOptions, 'log' | 'routes'>> {
  readonly limitPerMinute?: number;
  readonly logLevel?: string;
}

export function startTestServer(routes: readonly Route[], options: TestServerOptions = {}): TestServer {
  const log: Record<string, unknown>[] = [];
  const logger: Logger = pino({ level: options.logLevel ?? 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const keys = new Map<string, ApiKey>();
  const now = options.now ?? (() => NOW_MS);
  const lookUp = async (hashes: Buffer[]): Promise<ApiKey[]> =>
    [...keys.values()].filter((key) => hashes.some((hash) => hash.equals(key.hash)));
  const app = buildServer({
    keys: createKeyCache({ lookUp, database: { isListening: () => true }, now }),
    limits: createRateLimit({ limitPerMinute: options.limitPerMinute ?? 1000, lease: memoryLeases(), now }),
    uses: { record: () => {} },
    now,
    document: () => ({ openapi: '3.1.1', info: { title: 'Test', version: '1' }, paths: {} }),
    unreadyReason: async () => null,
    ...options,
    routes,
    log: logger,
  });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return {
    app,
    log,
    keys,
    authorize(scopes = allScopes, change = {}) {
      const secret = `tr_live_${randomBytes(16).toString('hex')}`;
      keys.set(secret, makeKey(secret, { scopes, ...change }));
      return { authorization: `Bearer ${secret}` };
    },
  };
}
