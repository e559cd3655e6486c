// The request log and the use of keys over the API, on both databases: what was asked is there, by whom, and nothing of what was in it.
// Each test has a workspace of its own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../src/domain/ids.ts';
import { newId } from '../src/open-store.ts';
import { pruneLogs } from '../src/operations/log-retention.ts';
import { addKeyUsage, findKeyUsage } from '../src/store/key-usage.ts';
import { pruneLogos } from '../src/store/log-retention.ts';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { pngOf } from './support/pictures.ts';

const log = { warn: () => undefined };

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`the request log on the ${kind.name} database`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await openTestApp({
        database: kind.name,
        deliver: true,
        environment: { REQUEST_LOG_READ_SAMPLE: '1', METRICS_TOKEN: 'm'.repeat(20) },
      });
    });
    afterAll(() => app.stop());

    /** Entries appear when the ring is written out, within a second or so. */
    const entriesWhen = async (key: string, query: string, enough: (entries: Json[]) => boolean): Promise<Json[]> => {
      let entries: Json[] = [];
      await expect
        .poll(
          async () => {
            entries = (await app.ok('GET', `/v1/request_log_entries?limit=100${query}`, { key })).data;
            return enough(entries);
          },
          { timeout: 20_000, interval: 100 },
        )
        .toBe(true);
      return entries;
    };

    test('I-41: says who asked for what with which answer, newest first, and nothing of what was sent', async () => {
      const { id, key } = await app.addWorkspace();
      const made = await app.call('POST', '/v1/projects?x=1', { key, body: { name: 'secret name', client_id: 'secret client' } });
      const project = await app.ok('POST', '/v1/projects', { key, body: { name: 'secret name', client_id: 'secret client' } });
      const read = await app.call('GET', `/v1/projects/${project.id}`, { key });
      await app.call('GET', '/v1/projects/prj_00000000000000000000000000', { key });
      const entries = await entriesWhen(key, '', (all) => all.some(({ status }) => status === 404));
      const [newest] = (await app.ok('GET', '/v1/api_keys', { key })).data;
      const own = entries
        .filter(({ path }) => path !== '/v1/request_log_entries')
        .map(({ method, path, status }) => [method, path, status]);
      expect(own.slice(-4)).toEqual([
        ['GET', '/v1/projects/{id}', 404],
        ['GET', '/v1/projects/{id}', 200],
        ['POST', '/v1/projects', 201],
        ['POST', '/v1/projects', 422],
      ]);
      const ofRead = entries.find(({ request_id }) => request_id === read.headers['request-id']);
      expect(ofRead).toMatchObject({ object: 'request_log_entry', api_key_id: newest.id, session_id: null, status: 200 });
      expect(ofRead.duration_ms).toBeGreaterThanOrEqual(0);
      expect(made.status).toBe(422);
      expect(JSON.stringify(entries)).not.toContain('secret');
      const stored = await app.database.query('select t::text as row from request_log t where workspace_id = $1', [id]);
      expect(JSON.stringify(stored)).not.toMatch(/secret|prj_|tr_live/);
    });

    test('is chosen by key, class of status, method and path, walked by pages, and never of another workspace', async () => {
      const { id, key } = await app.addWorkspace();
      const second = await app.addKey(id);
      await app.call('POST', '/v1/projects', { key, body: {} });
      await app.call('GET', '/v1/payments', { key: second });
      await app.call('GET', '/v1/projects', { key: second });
      const all = await entriesWhen(key, '', (found) => found.some(({ path }) => path === '/v1/projects') && found.length >= 3);
      const failed = (await app.ok('GET', '/v1/request_log_entries?status_class=4xx', { key })).data;
      expect(failed.map(({ method, path }: Json) => `${method} ${path}`)).toEqual(['POST /v1/projects']);
      expect((await app.ok('GET', '/v1/request_log_entries?status_class=5xx', { key })).data).toEqual([]);
      const secondId = all.find(({ path }) => path === '/v1/payments').api_key_id;
      const ofSecond = (await app.ok('GET', `/v1/request_log_entries?api_key_id=${secondId}`, { key })).data;
      expect(ofSecond.map(({ path }: Json) => path)).toEqual(['/v1/projects', '/v1/payments']);
      const path = encodeURIComponent('/v1/projects');
      expect((await app.ok('GET', `/v1/request_log_entries?method=GET&path=${path}`, { key })).data).toHaveLength(1);
      const first = await app.ok('GET', '/v1/request_log_entries?limit=1&status_class=2xx', { key });
      const next = await app.ok('GET', `/v1/request_log_entries?limit=1&status_class=2xx&starting_after=${first.next_cursor}`, { key });
      expect(next.data[0].id < first.data[0].id).toBe(true);
      const other = await app.addWorkspace();
      const seen = (await app.ok('GET', '/v1/request_log_entries', { key: other.key })).data;
      expect(seen.every(({ api_key_id }: Json) => api_key_id !== secondId)).toBe(true);
    });

    test('asks for its scope, and what was dropped is a metric', async () => {
      const { id } = await app.addWorkspace();
      const key = await app.addKey(id, ['projects:read']);
      for (const path of ['/v1/request_log_entries', '/v1/usage']) expect((await app.call('GET', path, { key })).status).toBe(403);
      const { text } = await app.call('GET', '/metrics', { key: 'm'.repeat(20) });
      expect(text).toMatch(/tranche_request_log_entries_total\{outcome="dropped"\} \d/);
    });

    test('a caller that nobody knows leaves no entry', async () => {
      const before = await app.database.query('select 1 from request_log where status = 401');
      await app.call('GET', '/v1/projects', { key: 'tr_live_unknown0000000000000000000000000000' });
      await app.call('GET', '/v1/projects', { key: null });
      const { key } = await app.addWorkspace();
      await app.call('GET', '/v1/projects', { key });
      await entriesWhen(key, '', (all) => all.length > 0);
      expect(await app.database.query('select 1 from request_log where status = 401')).toEqual(before);
    });

    test('what is older than it is kept for goes, with the hours of keys and the logos that nothing shows', async () => {
      const { id, key } = await app.addWorkspace();
      await app.call('GET', '/v1/projects', { key });
      await entriesWhen(key, '', (all) => all.length > 0);
      const [a, b, c] = [pngOf(2, 2), pngOf(3, 3), pngOf(4, 4)].map((png) => ({ data: png.toString('base64') }));
      for (const logo of [a, b, c, null, c]) await app.ok('PATCH', '/v1/workspace', { key, body: { logo } });
      const later = new Date(Date.now() + 8 * 86_400_000);
      const options = { database: app.database, clock: () => later, retentionDays: 7, log };
      expect(await pruneLogs({ ...options, retentionDays: 10 }, later)).toBe(0);
      expect(await pruneLogs(options, later)).toBeGreaterThan(0);
      expect(await app.database.query('select 1 from request_log where workspace_id = $1 and created_at < now()', [id])).toEqual([]);
      const logos = await app.database.query<{ width: number }>('select width from workspace_logos where workspace_id = $1', [id]);
      expect(logos).toEqual([{ width: 4 }]);
      expect(await pruneLogos(app.database, id)).toBe(0);
      expect((await app.ok('GET', '/v1/workspace', { key })).logo.width).toBe(4);
    });

    test('the use of a key is told for this minute at once, and hour by hour once minutes are over', async () => {
      const { id, key } = await app.addWorkspace();
      for (let i = 0; i < 20; i++) await app.ok('GET', '/v1/projects', { key });
      const usage = await app.ok('GET', '/v1/usage', { key });
      expect(usage.limit).toBe(1_000_000);
      expect(usage.keys).toHaveLength(1);
      expect(usage.keys[0].used).toBeGreaterThanOrEqual(20);
      const [{ id: keyId }] = (await app.database.query<{ id: string }>('select id from api_keys where workspace_id = $1', [id])) as [
        { id: string },
      ];
      const minute = Math.floor(Date.now() / 60_000);
      const use = (at: number, requests: number) => ({ workspaceId: id, keyId, minute: at, requests });
      await addKeyUsage(app.database, [use(minute, 5), use(minute - 60, 7), use(minute, 11)]);
      await addKeyUsage(app.database, [use(minute, 100), { ...use(minute, 1), workspaceId: newId(), keyId: newId() }]);
      const [found] = await findKeyUsage(app.database, id, minute, new Date(Date.now() - 86_400_000));
      expect(found?.hours.map(({ requests, busiestMinute }) => [requests, busiestMinute])).toEqual([
        [116, 100],
        [7, 7],
      ]);
      expect((await app.ok('GET', '/v1/usage', { key })).keys[0]).toMatchObject({
        api_key_id: encodeId('api_key', keyId),
        hours: [{ requests: 116 }, { requests: 7 }],
      });
    });
  });
}
