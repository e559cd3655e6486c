// CSV exports over the API: complete, with the list's filters, and safe to open in a spreadsheet. On both databases.
// How they stream and end is in csv-export.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXPORT_PAGE } from '../src/http/csv-export.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';
import { parseCsv } from './support/csv.ts';
import { testDatabases } from './support/databases.ts';

/** Payments as approvals would have left them, without the approvals; a few hundred a statement, since its triggers look at all of them. */
async function addPayments(app: TestApp, count: number, workspaceId: string): Promise<void> {
  for (let made = 0; made < count; made += BITE) await addSome(app, made, Math.min(BITE, count - made), workspaceId);
}

const BITE = 500;

async function addSome(app: TestApp, made: number, count: number, workspaceId: string): Promise<void> {
  await app.database.query(
    `with p as (
       insert into projects select $1, gen_random_uuid(), 'p', '=bulk', null, 'USD', 'manual', 'active', '{}', 1, now(), now() returning *
     ), m as (
       insert into milestones (workspace_id, id, project_id, title, amount_minor, currency, status, metadata, version, created_at, updated_at)
       select $1, gen_random_uuid(), p.id, 't', n, 'USD', 'approved', '{}', 1, now(), now() from p, generate_series($2::integer + 1, $2::integer + $3::integer) n returning *
     ), i as (
       insert into invoices select $1, gen_random_uuid(), m.amount_minor + 1000, m.project_id, m.id, gen_random_uuid(), '=bulk', 'issued',
         'unpaid', '[]', m.amount_minor, 0, m.amount_minor, 'USD', null, now() from m returning *
     )
     insert into payments select $1, i.payment_id, i.project_id, i.milestone_id, i.id, '=bulk', null, i.total_minor, 'USD', 'pending', null, now()
     from i`,
    [workspaceId, made, count],
  );
}

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`exports on the ${kind.name} database`, () => {
    let app: TestApp;
    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
    });
    afterAll(() => app.stop());

    test('an export holds what the list shows, with amounts in major units and as whole minor units', async () => {
      const { id, key } = await app.addWorkspace();
      const mine: TestApp = { ...app, ok: (method, path, options) => app.ok(method, path, { key, ...options }) };
      await bringMilestone(mine, 'approved', { currency: 'KWD', client_id: 'a,"b"; c' }, { amount: 1 });
      await bringMilestone(mine, 'approved', { currency: 'JPY', client_id: 'é漢字' }, { amount: 1500 });
      await bringMilestone(mine, 'approved', { client_id: '=1+1', payee_id: "@SUM(A1)'" }, { amount: 123_456 });
      const { headers, text } = await app.call('GET', '/v1/payments/export', { key });
      expect(headers['content-type']).toBe('text/csv');
      expect(headers['content-disposition']).toMatch(/^attachment; filename="payments-\d{4}-\d\d-\d\d\.csv"$/);
      const rows = parseCsv(text);
      expect(rows.map((row) => [row.amount, row.amount_minor, row.currency])).toEqual([
        ['1234.56', '123456', 'USD'],
        ['1500', '1500', 'JPY'],
        ['0.001', '1', 'KWD'],
      ]);
      expect(rows.map((row) => [row.client_id, row.payee_id])).toEqual([
        ["'=1+1", "'@SUM(A1)'"],
        ['é漢字', ''],
        ['a,"b"; c', ''],
      ]);
      const listed = (await mine.ok('GET', '/v1/payments')).data;
      expect(rows.map((row) => row.id)).toEqual(listed.map((payment: { id: string }) => payment.id));
      const invoices = parseCsv((await app.call('GET', '/v1/invoices/export?client_id=%3D1%2B1', { key })).text);
      expect(invoices.map((row) => [row.number, row.total, row.total_minor, row.payment_status])).toEqual([
        ['INV-000003', '1234.56', '123456', 'paid'],
      ]);
      expect(id).not.toBe(app.workspaceId);
    });

    test('I-40: more than one page comes whole, each record once', async () => {
      const { id, key } = await app.addWorkspace();
      await addPayments(app, 2 * EXPORT_PAGE + 1, id);
      const rows = parseCsv((await app.call('GET', '/v1/payments/export?status=pending', { key })).text);
      expect(new Set(rows.map((row) => row.id)).size).toBe(2 * EXPORT_PAGE + 1);
      expect(rows.length).toBe(2 * EXPORT_PAGE + 1);
    });

    test('an empty export is its header line', async () => {
      const { key } = await app.addWorkspace();
      const { text } = await app.call('GET', '/v1/invoices/export', { key });
      expect(text).toMatch(/^id,number,created_at[^\r\n]*\r\n$/);
    });

    test('a filter that the list refuses is refused here too, and so are pages', async () => {
      expect((await app.call('GET', '/v1/payments/export?status=lost')).status).toBe(422);
      expect((await app.call('GET', '/v1/payments/export?limit=5')).status).toBe(422);
    });
  });
}
