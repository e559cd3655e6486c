// How an export streams: no faster than its reader, in pages, and not a page longer than its reader stays. Over real sockets.
// Records are made up as they are asked for, without end unless a test says where.

import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createExports, EXPORT_PAGE, MAX_EXPORTS_PER_WORKSPACE, RECHECK_MS } from './csv-export.ts';
import type { FindKeys } from './stream-keys.ts';

interface Line {
  readonly id: string;
  readonly text: string;
}

const columns = { id: ({ id }: Line) => id, text: ({ text }: Line) => text };
const workspaceId = '01900000-0000-7000-8000-000000000001';
const keyId = '01900000-0000-7000-8000-000000000002';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Pages until `until`, each told of; a function in its place decides page by page. */
function source(until: number, onPage: (page: number) => Promise<void> | void = () => undefined) {
  let pages = 0;
  return {
    name: 'lines',
    columns,
    pages: () => pages,
    async readPage({ limit, startingAfter }: { readonly limit: number; readonly startingAfter?: string | undefined }) {
      await onPage(pages);
      pages += 1;
      const first = startingAfter === undefined ? 0 : Number(startingAfter) + 1;
      const count = Math.min(limit, until - first);
      return {
        records: Array.from({ length: count }, (_, i): Line => ({ id: String(first + i), text: 'x'.repeat(200) })),
        hasMore: first + count < until,
      };
    },
  };
}

const warnings: string[] = [];
const BEGIN_MS = Date.parse('2026-03-02T09:30:00Z');
const holds: FindKeys = async (asked) => asked.map((key) => ({ ...key, expiresAt: null, revokedAt: null }));
const make = (findCallers = holds, now = () => new Date(BEGIN_MS)) =>
  createExports({ now, findCallers, log: { warn: (_fields, message) => warnings.push(message) } });

async function serve(exports: ReturnType<typeof make>, lines: ReturnType<typeof source>): Promise<() => Promise<IncomingMessage>> {
  server = createServer(async (_request, response) => {
    const answer = await exports.open({ workspaceId, keyId }, lines);
    if (!('stream' in answer)) return void response.writeHead(429).end();
    response.writeHead(200, answer.headers);
    answer.stream(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async () => (await once(get({ port, host: '127.0.0.1', agent: false }), 'response'))[0] as IncomingMessage;
}

async function untilStill(value: () => number): Promise<number> {
  let last = -1;
  await expect
    .poll(
      () => {
        const same = value() === last && last > 0;
        last = value();
        return same;
      },
      { interval: 300, timeout: 20_000 },
    )
    .toBe(true);
  return last;
}

const discard = async (response: IncomingMessage): Promise<number> => {
  let bytes = 0;
  for await (const part of response) bytes += (part as Buffer).length;
  return bytes;
};

describe('an export', () => {
  test('sends every record once, in order, with its name', async () => {
    const lines = source(3 * EXPORT_PAGE + 7);
    const response = await (await serve(make(), lines))();
    let text = '';
    for await (const part of response) text += part;
    const ids = text.split('\r\n').slice(1, -1);
    expect(ids.map((line) => line.split(',')[0])).toEqual(Array.from({ length: 3 * EXPORT_PAGE + 7 }, (_, i) => String(i)));
    expect(response.headers['content-disposition']).toBe('attachment; filename="lines-2026-03-02.csv"');
    expect(lines.pages()).toBe(4);
  });

  test('reads no further while its reader takes nothing, and goes on when it does', async () => {
    const lines = source(Number.POSITIVE_INFINITY);
    const response = await (await serve(make(), lines))();
    const still = await untilStill(lines.pages);
    response.resume();
    await expect.poll(lines.pages, { timeout: 20_000 }).toBeGreaterThan(still + 100);
    response.destroy();
  });

  test('ends when its reader goes, whether it was reading or waiting', async () => {
    for (const reads of [true, false]) {
      const lines = source(Number.POSITIVE_INFINITY);
      const response = await (await serve(make(), lines))();
      if (reads) response.resume();
      await expect.poll(lines.pages, { timeout: 20_000 }).toBeGreaterThan(3);
      response.on('error', () => undefined);
      response.destroy();
      await untilStill(lines.pages);
    }
  });

  test('is refused while a workspace has as many as it may, and has its place back when one ends', async () => {
    const exports = make();
    const open = await serve(exports, source(Number.POSITIVE_INFINITY));
    const held = await Promise.all(Array.from({ length: MAX_EXPORTS_PER_WORKSPACE }, open));
    expect(held.map((response) => response.statusCode)).toEqual(held.map(() => 200));
    expect((await open()).statusCode).toBe(429);
    held[0]?.on('error', () => undefined).destroy();
    await expect
      .poll(
        async () => {
          const response = await open();
          response.on('error', () => undefined).destroy();
          return response.statusCode;
        },
        { timeout: 20_000 },
      )
      .toBe(200);
    exports.close();
  });

  test('I-40: whose database fails half-way is cut, never ended as if it were whole', async () => {
    const lines = source(Number.POSITIVE_INFINITY, (page) => {
      if (page === 2) throw new Error('out of reach');
    });
    const response = await (await serve(make(), lines))();
    await expect(discard(response)).rejects.toThrow();
    expect(warnings).toContain('an export could not be finished');
  });

  test.each([
    ['was revoked', () => [{ workspaceId, id: keyId, expiresAt: null, revokedAt: new Date(BEGIN_MS) }]],
    ['has expired', () => [{ workspaceId, id: keyId, expiresAt: new Date(BEGIN_MS), revokedAt: null }]],
    ['is gone, as a session or a membership is', () => []],
  ])('is cut within the time of a look, never ended as if it were whole, when its key %s', async (_what, ended) => {
    let nowMs = BEGIN_MS;
    let looks = 0;
    const lines = source(Number.POSITIVE_INFINITY, () => void (nowMs += RECHECK_MS / 5));
    const findCallers: FindKeys = async (asked) => (++looks < 3 ? holds(asked) : ended());
    const response = await (
      await serve(
        make(findCallers, () => new Date(nowMs)),
        lines,
      )
    )();
    warnings.length = 0;
    await expect(discard(response)).rejects.toThrow();
    expect(warnings).toEqual(['an export was cut: its key, session or membership has ended']);
    expect([looks, lines.pages()]).toEqual([3, 15]);
  });

  test('is cut by a stop of the server', async () => {
    const exports = make();
    const response = await (await serve(exports, source(Number.POSITIVE_INFINITY)))();
    exports.close();
    await expect(discard(response)).rejects.toThrow();
  });
});
