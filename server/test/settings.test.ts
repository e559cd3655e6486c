// The settings of a workspace over the API, and what invoices keep of them: on both databases.
// Each test has a workspace of its own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bringMilestone, type Json, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { jpegOf, pngOf } from './support/pictures.ts';

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`settings on the ${kind.name} database`, () => {
    let app: TestApp;
    let key: string;
    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
    });
    afterAll(() => app.stop());

    /** A workspace of its own for each test. */
    const own = async (): Promise<TestApp> => {
      ({ key } = await app.addWorkspace());
      const mine = { key };
      return {
        ...app,
        call: (method, path, options) => app.call(method, path, { ...mine, ...options }),
        ok: (method, path, options) => app.ok(method, path, { ...mine, ...options }),
      };
    };
    const numbers = async (mine: TestApp): Promise<string[]> =>
      (await mine.ok('GET', '/v1/invoices')).data.map((invoice: Json) => invoice.number);

    test('a new workspace has defaults, and each field that is named changes while the others stay', async () => {
      const mine = await own();
      const before = await mine.ok('GET', '/v1/workspace');
      expect(before).toMatchObject({
        ...{ object: 'workspace', legal_name: null, address_lines: [], tax_id: null, logo: null, default_currency: 'USD' },
        ...{ invoice_prefix: 'INV-', tax_line: null, timezone: 'UTC', version: 1 },
      });
      const changed = await mine.ok('PATCH', '/v1/workspace', {
        body: { legal_name: 'Größe & Co. <b>', address_lines: ["1 'Main' St", '=cmd|x'], default_currency: 'eur', timezone: 'Asia/Tokyo' },
      });
      expect(changed).toEqual({
        ...before,
        ...{ legal_name: 'Größe & Co. <b>', address_lines: ["1 'Main' St", '=cmd|x'], default_currency: 'EUR', timezone: 'Asia/Tokyo' },
        ...{ version: 2, updated_at: changed.updated_at },
      });
      expect(await mine.ok('GET', '/v1/workspace')).toEqual(changed);
      expect(await mine.ok('PATCH', '/v1/workspace', { body: { legal_name: null, address_lines: [] } })).toMatchObject({
        ...{ legal_name: null, address_lines: [], default_currency: 'EUR', version: 3 },
      });
    });

    test('the default currency is that of projects created from here on, in the same batch too', async () => {
      const mine = await own();
      const [, project] = await Promise.all([
        mine.ok('PATCH', '/v1/workspace', { body: { default_currency: 'KWD' } }),
        mine.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } }),
      ]);
      expect(project.currency).toBe('KWD');
    });

    test('the same settings again change nothing, and a stale If-Match nothing either', async () => {
      const mine = await own();
      const first = await mine.call('PATCH', '/v1/workspace', { body: { name: 'Acme' }, headers: { 'if-match': '"1"' } });
      expect([first.status, first.headers.etag]).toEqual([200, '"2"']);
      expect((await mine.call('PATCH', '/v1/workspace', { body: { name: 'Acme' } })).headers.etag).toBe('"2"');
      const stale = await mine.call('PATCH', '/v1/workspace', { body: { name: 'Other' }, headers: { 'if-match': '"1"' } });
      expect([stale.status, stale.body.code]).toEqual([412, 'precondition_failed']);
      expect((await mine.call('GET', '/v1/workspace', { headers: { 'if-none-match': '"2"' } })).status).toBe(304);
    });

    test('a repetition with its Idempotency-Key gets the answer of the first and has no effect', async () => {
      const mine = await own();
      const headers = { 'idempotency-key': 'once' };
      const first = await mine.call('PATCH', '/v1/workspace', { body: { name: 'One' }, headers });
      await mine.ok('PATCH', '/v1/workspace', { body: { name: 'Two' } });
      const again = await mine.call('PATCH', '/v1/workspace', { body: { name: 'One' }, headers });
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
      expect((await mine.ok('GET', '/v1/workspace')).name).toBe('Two');
    });

    test('I-39: invoices keep the number they were issued under, new ones take the new prefix, and the count has no gap', async () => {
      const mine = await own();
      await bringMilestone(mine, 'approved');
      await mine.ok('PATCH', '/v1/workspace', { body: { invoice_prefix: 'AW/2026-' } });
      // One in between that governs no invoice.
      await mine.ok('PATCH', '/v1/workspace', { body: { invoice_prefix: 'NEVER-' } });
      await mine.ok('PATCH', '/v1/workspace', { body: { invoice_prefix: 'AW/2026-' } });
      await bringMilestone(mine, 'approved');
      await bringMilestone(mine, 'approved');
      await mine.ok('PATCH', '/v1/workspace', { body: { invoice_prefix: 'X.' } });
      expect(await numbers(mine)).toEqual(['AW/2026-000003', 'AW/2026-000002', 'INV-000001']);
      const [last] = (await mine.ok('GET', '/v1/invoices')).data;
      expect((await mine.ok('GET', `/v1/invoices/${last.id}`)).number).toBe('AW/2026-000003');
      const told = (await mine.ok('GET', '/v1/events')).data.filter((event: Json) => event.type === 'invoice.issued');
      expect(told.map((event: Json) => event.data.number)).toEqual(['INV-000001', 'AW/2026-000002', 'AW/2026-000003']);
      expect(await app.faults()).toEqual([]);
    });

    test('I-39: a change of the prefix in one batch with approvals keeps each number as it was told', async () => {
      const mine = await own();
      const made = await Promise.all(Array.from({ length: 12 }, () => bringMilestone(mine, 'submitted')));
      await Promise.all(
        made.flatMap(({ milestone }, i) => [
          ...(i % 4 === 2 ? [mine.ok('PATCH', '/v1/workspace', { body: { invoice_prefix: `P${i}-` } })] : []),
          mine.ok('PATCH', `/v1/milestones/${milestone.id}`, { body: { status: 'approved' } }),
        ]),
      );
      const told = (await mine.ok('GET', '/v1/events?limit=100')).data.filter((event: Json) => event.type === 'invoice.issued');
      expect((await numbers(mine)).reverse()).toEqual(told.map((event: Json) => event.data.number));
      expect(new Set(told.map((event: Json) => event.data.number.slice(0, 3))).size).toBeGreaterThan(1);
    });

    test('I-39: an invoice that is read by itself carries the letterhead of its issue; lists and events do not', async () => {
      const mine = await own();
      const logo = { data: pngOf(40, 20).toString('base64') };
      const before = {
        name: 'Acme',
        legal_name: 'Acme Ltd',
        address_lines: ['1 Main St'],
        tax_id: 'DE1',
        tax_line: 'No tax.',
        timezone: 'Asia/Tokyo',
      };
      await mine.ok('PATCH', '/v1/workspace', { body: { ...before, logo } });
      await bringMilestone(mine, 'approved');
      await mine.ok('PATCH', '/v1/workspace', {
        body: { name: 'Later', legal_name: null, address_lines: [], tax_id: null, tax_line: null, logo: null },
      });
      await bringMilestone(mine, 'approved');
      const [second, first] = (await mine.ok('GET', '/v1/invoices')).data;
      const shown = await mine.ok('GET', `/v1/invoices/${first.id}`);
      expect(shown).toEqual({ ...first, letterhead: { ...before, logo: { content_type: 'image/png', width: 40, height: 20, ...logo } } });
      expect((await mine.ok('GET', `/v1/invoices/${second.id}`)).letterhead).toMatchObject({ name: 'Later', legal_name: null, logo: null });
      const told = (await mine.ok('GET', '/v1/events')).data.filter((event: Json) => event.type === 'invoice.issued');
      expect([Object.keys(first), ...told.map(({ data }: Json) => Object.keys(data))].flat()).not.toContain('letterhead');
    });

    test('I-39: an invoice whose kept logo cannot be drawn is a page without it', async () => {
      const mine = await own();
      await mine.ok('PATCH', '/v1/workspace', { body: { logo: { data: pngOf(40, 20).toString('base64') } } });
      await bringMilestone(mine, 'approved');
      const [{ id }] = (await mine.ok('GET', '/v1/invoices')).data;
      const whole = await mine.call('GET', `/v1/invoices/${id}/pdf`);
      expect([whole.status, whole.text.includes('/Subtype /Image')]).toEqual([200, true]);
      // As an earlier version took it: its pixels do not unfold, which the library learns when nobody waits for it any more.
      const hostile = pngOf(40, 20, { pixels: Buffer.alloc(3) });
      await app.database.query('update workspace_logos set data = $1 where width = 40', [hostile]);
      const page = await mine.call('GET', `/v1/invoices/${id}/pdf`);
      expect([page.status, page.text.slice(0, 5), page.text.includes('/Subtype /Image')]).toEqual([200, '%PDF-', false]);
    });

    test('a logo is kept as it was sent, and taken away by null', async () => {
      const mine = await own();
      const data = pngOf(40, 20).toString('base64');
      const logo = { content_type: 'image/png', width: 40, height: 20, data };
      expect((await mine.ok('PATCH', '/v1/workspace', { body: { logo: { data } } })).logo).toEqual(logo);
      expect((await mine.ok('PATCH', '/v1/workspace', { body: { name: 'still there' } })).logo).toEqual(logo);
      const jpeg = jpegOf(8, 6).toString('base64');
      expect((await mine.ok('PATCH', '/v1/workspace', { body: { logo: { data: jpeg } } })).logo).toMatchObject({
        content_type: 'image/jpeg',
      });
      expect((await mine.ok('PATCH', '/v1/workspace', { body: { logo: null } })).logo).toBeNull();
    });

    test.each([
      ['a text that is no image', { logo: { data: Buffer.from('<svg onload=alert(1)>').toString('base64') } }, '/logo/data'],
      ['no base64', { logo: { data: 'data:image/png;base64,AAAA' } }, '/logo/data'],
      ['a prefix that ends in a digit', { invoice_prefix: 'INV-1' }, '/invoice_prefix'],
      ['a prefix that a spreadsheet would run', { invoice_prefix: '=A-' }, '/invoice_prefix'],
      ['a time zone that does not exist', { timezone: 'Europe/Atlantis' }, '/timezone'],
      ['an offset for a time zone', { timezone: '+01:00' }, '/timezone'],
      ['too many address lines', { address_lines: Array(9).fill('x') }, '/address_lines'],
      ['a line break in an address line', { address_lines: ['a\nb'] }, '/address_lines/0'],
      ['half a surrogate pair', { tax_line: '\ud800' }, '/tax_line'],
      ['a NUL', { legal_name: 'a\u0000' }, '/legal_name'],
      ['a currency that does not exist', { default_currency: 'XXY' }, '/default_currency'],
      ['a field that does not exist', { owner: 'me' }, '/owner'],
    ])('%s is refused by its name', async (_what, body, pointer) => {
      const mine = await own();
      const { status, body: problem } = await mine.call('PATCH', '/v1/workspace', { body });
      expect([status, problem.errors[0].pointer]).toEqual([422, pointer]);
    });

    test('a change is in the audit log with what was and what is, and a logo by its hash alone', async () => {
      const mine = await own();
      await mine.ok('PATCH', '/v1/workspace', { body: { name: 'After', logo: { data: pngOf(4, 4).toString('base64') } } });
      const [entry] = (await mine.ok('GET', '/v1/audit_entries')).data;
      expect(entry.action).toBe('workspace.updated');
      expect(entry.changes).toHaveLength(2);
      expect(entry.changes).toEqual(
        expect.arrayContaining([
          { field: 'name', from: 'test', to: 'After' },
          { field: 'logo', from: null, to: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
        ]),
      );
    });

    test('reading asks for workspace:read and changing for workspace:write', async () => {
      const { id } = await app.addWorkspace();
      const reader = await app.addKey(id, ['workspace:read']);
      const stranger = await app.addKey(id, ['projects:read']);
      expect((await app.call('GET', '/v1/workspace', { key: reader })).status).toBe(200);
      expect((await app.call('PATCH', '/v1/workspace', { key: reader, body: {} })).status).toBe(403);
      expect((await app.call('GET', '/v1/workspace', { key: stranger })).status).toBe(403);
    });
  });
}
