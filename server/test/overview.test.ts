// What needs somebody and what was released, totals by currency, and search, over the API and on both databases.
// Each test has a workspace of its own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bringMilestone, type Json, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';

const dayFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const thisMonth = new Date().toISOString().slice(0, 7);

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`the overview on the ${kind.name} database`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
    });
    afterAll(() => app.stop());

    const own = async (): Promise<TestApp> => {
      const { id, key } = await app.addWorkspace();
      return {
        ...app,
        workspaceId: id,
        key,
        call: (method, path, options) => app.call(method, path, { key, ...options }),
        ok: (method, path, options) => app.ok(method, path, { key, ...options }),
      };
    };
    const titles = (milestones: Json[]): string[] => milestones.map(({ title }) => title);

    test('an empty workspace needs nobody, and its months are there all the same', async () => {
      const mine = await own();
      const overview = await mine.ok('GET', '/v1/overview');
      expect(overview).toMatchObject({
        ...{ object: 'overview', awaiting_approval: { count: 0, milestones: [] }, overdue: { count: 0, milestones: [] } },
        ...{ failing_endpoints: { count: 0, webhook_endpoints: [] }, released: [], totals: [], latest_event_seq: 0 },
      });
      expect(overview.months).toHaveLength(12);
      expect(overview.months.at(-1)).toBe(thisMonth);
    });

    test('what awaits approval is counted, and the five that have waited longest are shown', async () => {
      const mine = await own();
      for (let i = 0; i < 7; i++) await bringMilestone(mine, 'submitted', {}, { title: `wait ${i}` });
      await bringMilestone(mine, 'pending');
      const { milestone } = await bringMilestone(mine, 'approved');
      expect(milestone.status).toBe('approved');
      const { awaiting_approval: waiting } = await mine.ok('GET', '/v1/overview');
      expect(waiting.count).toBe(7);
      expect(titles(waiting.milestones)).toEqual([0, 1, 2, 3, 4].map((i) => `wait ${i}`));
    });

    test('the number of the last event is there, from which the log goes on', async () => {
      const mine = await own();
      await bringMilestone(mine, 'approved');
      const { latest_event_seq: latest } = await mine.ok('GET', '/v1/overview');
      const { data } = await mine.ok('GET', `/v1/events?after_seq=${latest - 2}`);
      expect(data.map(({ seq }: Json) => seq)).toEqual([latest - 1, latest]);
    });

    test('overdue is what was due before today and is neither submitted nor final', async () => {
      const mine = await own();
      await bringMilestone(mine, 'pending', {}, { title: 'late', due_date: dayFromNow(-3) });
      await bringMilestone(mine, 'pending', {}, { title: 'later', due_date: dayFromNow(-30) });
      await bringMilestone(mine, 'pending', {}, { title: 'today', due_date: dayFromNow(0) });
      await bringMilestone(mine, 'submitted', {}, { title: 'handed in', due_date: dayFromNow(-3) });
      await bringMilestone(mine, 'approved', {}, { title: 'done', due_date: dayFromNow(-3) });
      const { overdue, today } = await mine.ok('GET', '/v1/overview');
      expect([overdue.count, titles(overdue.milestones)]).toEqual([2, ['later', 'late']]);
      expect(titles((await mine.ok('GET', `/v1/milestones?due_before=${today}`)).data)).toEqual(['later', 'late']);
      expect(titles((await mine.ok('GET', `/v1/milestones?due_before=${today}&status=submitted`)).data)).toEqual(['handed in']);
    });

    test('days begin in the time zone of the workspace', async () => {
      const mine = await own();
      for (const [timezone, day] of [
        ['Pacific/Kiritimati', new Date(Date.now() + 14 * 3_600_000)],
        ['Pacific/Niue', new Date(Date.now() - 11 * 3_600_000)],
      ] as const) {
        await mine.ok('PATCH', '/v1/workspace', { body: { timezone } });
        expect((await mine.ok('GET', '/v1/overview')).today).toBe(day.toISOString().slice(0, 10));
      }
    });

    test('released is summed by month and currency, exactly and at once, however often it is asked for meanwhile', async () => {
      const mine = await own();
      const seen: Json[] = [];
      await bringMilestone(mine, 'approved', { currency: 'EUR' }, { amount: 1 });
      seen.push(await mine.ok('GET', '/v1/overview'));
      await bringMilestone(mine, 'approved', { currency: 'JPY' }, { amount: 5 });
      await bringMilestone(mine, 'approved', { currency: 'EUR' }, { amount: 999_999_999_999 });
      seen.push(...(await Promise.all([mine.ok('GET', '/v1/overview'), mine.ok('GET', '/v1/overview')])));
      const { milestone } = await bringMilestone(mine, 'approved', { currency: 'EUR', release: 'manual' }, { amount: 7 });
      const waiting = await mine.ok('GET', '/v1/overview');
      const [payment] = (await mine.ok('GET', `/v1/payments?milestone_id=${milestone.id}`)).data;
      await mine.ok('POST', `/v1/payments/${payment.id}/release`);
      const last = await mine.ok('GET', '/v1/overview');
      const euros = (count: number, amount: number) => ({ month: thisMonth, currency: 'EUR', count, amount });
      const yen = { month: thisMonth, currency: 'JPY', count: 1, amount: 5 };
      expect(seen.map(({ released }) => released)).toEqual([
        [euros(1, 1)],
        [euros(2, 1_000_000_000_000), yen],
        [euros(2, 1_000_000_000_000), yen],
      ]);
      expect(waiting.released).toEqual(seen[1].released);
      expect(waiting.totals[0]).toEqual({
        ...{ currency: 'EUR', pending: { count: 1, amount: 7 }, released: { count: 2, amount: 1_000_000_000_000 } },
      });
      expect(last.released).toEqual([euros(3, 1_000_000_000_007), yen]);
    });

    test('an endpoint whose breaker is open is shown, and a healthy or deleted one is not', async () => {
      const mine = await own();
      const made: Json[] = [];
      for (const url of ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b', 'http://127.0.0.1:9/c']) {
        made.push(await mine.ok('POST', '/v1/webhook_endpoints', { body: { url } }));
      }
      await app.database.query(
        `update webhook_flows set breaker = 'open', failures = 12, failing_since = now(), probe_at = now()
         where workspace_id = $1 and endpoint_id in (select id from webhook_endpoints where url <> 'http://127.0.0.1:9/c')`,
        [mine.workspaceId],
      );
      await mine.call('DELETE', `/v1/webhook_endpoints/${made[1].id}`);
      const { failing_endpoints: failing } = await mine.ok('GET', '/v1/overview');
      expect([failing.count, failing.webhook_endpoints.map(({ id }: Json) => id)]).toEqual([1, [made[0].id]]);
    });

    test('it asks for the scopes of all that it shows', async () => {
      const { id } = await app.addWorkspace();
      const key = await app.addKey(id, ['workspace:read', 'milestones:read', 'webhooks:read']);
      const { status, body } = await app.call('GET', '/v1/overview', { key });
      expect([status, body.code, body.detail]).toEqual([403, 'insufficient_scope', expect.stringContaining('payments:read')]);
    });

    test('totals are of exactly what the list shows, by currency, and never of another workspace', async () => {
      const mine = await own();
      await bringMilestone(await own(), 'approved');
      const { project } = await bringMilestone(mine, 'approved', { client_id: 'a', currency: 'EUR' }, { amount: 100 });
      await bringMilestone(mine, 'approved', { client_id: 'a', release: 'manual' }, { amount: 20 });
      await bringMilestone(mine, 'approved', { client_id: 'b', currency: 'EUR' }, { amount: 3 });
      const sum = (count: number, amount: number) => ({ count, amount });
      const none = sum(0, 0);
      expect((await mine.ok('GET', '/v1/payments/totals')).currencies).toEqual([
        { currency: 'EUR', pending: none, released: sum(2, 103) },
        { currency: 'USD', pending: sum(1, 20), released: none },
      ]);
      expect((await mine.ok('GET', '/v1/payments/totals?client_id=a&status=released')).currencies).toEqual([
        { currency: 'EUR', pending: none, released: sum(1, 100) },
      ]);
      expect((await mine.ok('GET', '/v1/invoices/totals?client_id=a')).currencies).toEqual([
        { currency: 'EUR', unpaid: none, paid: sum(1, 100), void: none },
        { currency: 'USD', unpaid: sum(1, 20), paid: none, void: none },
      ]);
      expect((await mine.ok('GET', `/v1/payments/totals?created_before=2020-01-01T00:00:00Z`)).currencies).toEqual([]);
      expect(await mine.ok('GET', `/v1/projects/${project.id}/totals`)).toEqual({
        object: 'project_totals',
        project_id: project.id,
        currencies: [
          { currency: 'EUR', planned: sum(1, 100), submitted: none, approved: sum(1, 100), pending: none, released: sum(1, 100) },
        ],
      });
      const empty = await mine.ok('POST', '/v1/projects', { body: { name: 'empty', client_id: 'c' } });
      expect((await mine.ok('GET', `/v1/projects/${empty.id}/totals`)).currencies).toEqual([]);
      expect((await app.call('GET', `/v1/projects/${project.id}/totals`)).status).toBe(404);
    });

    test('a total with more digits than a float is written exactly', async () => {
      const mine = await own();
      await app.database.query(
        `insert into projects select $1, gen_random_uuid(), 'p', 'c', null, 'USD', 'on_approval', 'active', '{}', 1, now(), now()`,
        [mine.workspaceId],
      );
      await app.database.query(
        `with m as (
           insert into milestones (workspace_id, id, project_id, title, amount_minor, currency, status, metadata, version, created_at, updated_at)
           select $1, gen_random_uuid(), p.id, 't', 999999999999, 'USD', 'submitted', '{}', 1, now(), now()
           from projects p, generate_series(1, 9999) where p.workspace_id = $1 returning 1
         ) select count(*) from m`,
        [mine.workspaceId],
      );
      const [project] = (await mine.ok('GET', '/v1/projects')).data;
      expect((await mine.call('GET', `/v1/projects/${project.id}/totals`)).text).toContain('"amount":9998999999990001');
    });
  });

  describe.skipIf(!kind.available)(`search on the ${kind.name} database`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
      for (const [name, client_id] of [
        ['Website Relaunch', 'acme'],
        ['ÉCOLE—Größe, 漢字 names', 'client_42'],
        ["O'Brien & Söhne \\ 100%", 'cus_9s6X'],
        [':* & ! | <-> \' "', 'x'],
      ]) {
        await app.ok('POST', '/v1/projects', { body: { name, client_id } });
      }
      const { key } = await app.addWorkspace();
      await app.ok('POST', '/v1/projects', { key, body: { name: 'Website of others', client_id: 'acme' } });
    });
    afterAll(() => app.stop());

    const names = async (q: string): Promise<string[]> =>
      (await app.ok('GET', `/v1/projects?q=${encodeURIComponent(q)}`)).data.map((project: Json) => project.name);

    test.each([
      ['web', 1],
      ['WEB', 1],
      ['relaunch web', 1],
      ['web ac', 1],
      ['site', 0],
      ['acme', 1],
      ['école', 1],
      ['éco grö', 1],
      ['漢字', 1],
      ['client_4', 1],
      ['42', 1],
      ['9s', 1],
      ["o'br", 1],
      ['söh', 1],
      ['100%', 1],
      ['x', 1],
      ["web' | 'acme", 1],
      ["a:*|!b \\' \\\\", 0],
      ['zzz', 0],
    ])('%j finds %i', async (q, count) => {
      expect(await names(q)).toHaveLength(count);
    });

    test('a renamed project is found by its new name and no longer by its old one', async () => {
      const project = await app.ok('POST', '/v1/projects', { body: { name: 'Brochure', client_id: 'c' } });
      await app.ok('PATCH', `/v1/projects/${project.id}`, { body: { name: 'Leaflet' } });
      expect([await names('broch'), await names('leaf')]).toEqual([[], ['Leaflet']]);
    });

    test('it is walked page by page, newest first, and with the other filters', async () => {
      for (let i = 0; i < 5; i++) await app.ok('POST', '/v1/projects', { body: { name: `Poster ${i}`, client_id: `k${i % 2}` } });
      const first = await app.ok('GET', '/v1/projects?q=poster&limit=2');
      const second = await app.ok('GET', `/v1/projects?q=poster&limit=2&starting_after=${first.next_cursor}`);
      expect([...first.data, ...second.data].map(({ name }: Json) => name)).toEqual(['Poster 4', 'Poster 3', 'Poster 2', 'Poster 1']);
      expect((await app.ok('GET', '/v1/projects?q=poster&client_id=k1')).data).toHaveLength(2);
    });

    test.each(['', '!!!', ' ', 'x'.repeat(101), '\u0000a', '%ff'])('%j is refused as a search', async (q) => {
      const { status, body } = await app.call('GET', `/v1/projects?q=${q === '%ff' ? q : encodeURIComponent(q)}`);
      expect([400, 422]).toContain(status);
      expect(body.code).toMatch(/validation_failed|malformed_request/);
    });
  });
}
