// `tranche verify` finds every kind of damage to the books and says where it is; books that nobody touched pass.
// The damage is done as only a superuser can, with the database's own guards taken down, and rolled back after each look.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeId } from '../src/domain/ids.ts';
import { verifyBooks, type WorkspaceReport } from '../src/operations/verify.ts';
import type { Queryable } from '../src/store/database.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';

const guarded = ['events', 'ledger_entries', 'invoices', 'payments', 'milestones'];

/** In `sql`, `$w` stands for the workspace and `$last` for the sequence number of its last event. */
interface Damage {
  readonly what: string;
  readonly sql: readonly string[];
  readonly faults: readonly RegExp[];
}

/** The third of five payments; the fourth invoice and payment are as untouched as the second. */
const third = `(select id from payments where workspace_id = $w order by id offset 2 limit 1)`;
const thirdInvoice = `workspace_id = $w and number = 3`;

const damages: readonly Damage[] = [
  {
    what: 'the body of an event was altered',
    sql: [`update events set body = replace(body, '150000', '950000') where workspace_id = $w and seq = 5`],
    faults: [/^event 5 \(evt_\w+\) does not match its hash/],
  },
  {
    what: 'the time of an event was altered',
    sql: [`update events set created_at = created_at + interval '1 day' where workspace_id = $w and seq = 4`],
    faults: [/^event 4 \(evt_\w+\) does not match its hash/],
  },
  {
    what: 'an event is filed under another kind',
    sql: [`update events set type = 'project.archived' where workspace_id = $w and seq = 1`],
    faults: [/^event 1 \(evt_\w+\) is filed under another kind or project/],
  },
  {
    what: 'an event is filed under another project',
    sql: [`update events set project_id = gen_random_uuid() where workspace_id = $w and seq = 2`],
    faults: [/^event 2 \(evt_\w+\) is filed under another kind or project/],
  },
  {
    what: 'a milestone was moved to a project that is not there',
    sql: [`update milestones set project_id = gen_random_uuid() where workspace_id = $w and status = 'submitted'`],
    faults: [/^milestone mil_\w+ belongs to no project of its workspace$/],
  },
  {
    what: 'an event was deleted',
    sql: [`delete from events where workspace_id = $w and seq = 3`],
    faults: [/^event 3 is missing: the log goes from 2 to 4$/, /^event 4 .* does not match its hash/],
  },
  {
    what: 'two events were swapped',
    sql: [
      `update events set seq = -seq where workspace_id = $w and seq in (4, 5)`,
      `update events set seq = case seq when -4 then 5 else 4 end where workspace_id = $w and seq < 0`,
    ],
    faults: [/^event 4 .* does not match its hash/, /^event 5 .* does not match its hash/, /^event 6 .* does not match its hash/],
  },
  {
    what: 'the tail of the log was cut',
    sql: [`delete from events where workspace_id = $w and seq > $last - 1`],
    faults: [
      /^the log ends at event (\d+), its head says (\d+)$/,
      /^the hash of the last event is not the one in the head$/,
      /^the log holds/,
    ],
  },
  {
    what: 'an event was added by hand',
    sql: [
      `insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
       select workspace_id, $last + 1, gen_random_uuid(), type, project_id, body, hash, created_at from events where workspace_id = $w and seq = 1`,
    ],
    faults: [/^the log holds event \d+ while the head says \d+$/],
  },
  {
    what: 'a workspace lost its head',
    sql: [`delete from workspace_heads where workspace_id = $w`],
    faults: [/^the workspace has no head$/],
  },
  {
    what: 'an invoice is missing',
    sql: [`delete from invoices where ${thirdInvoice}`],
    faults: [/^invoice number 3 is missing$/, /^payment pay_\w+ has no invoice that names it$/, /^issued invoices: 5 told by events, 4/],
  },
  {
    what: 'an invoice number is there twice',
    sql: [`drop index invoices_by_number`, `update invoices set number = 2 where ${thirdInvoice}`],
    faults: [/^invoice number 2 is there twice$/, /^invoice number 3 is missing$/],
  },
  {
    what: 'the last invoice is missing',
    sql: [`delete from invoices where workspace_id = $w and number = 5`],
    faults: [/^the last invoice is 4, the head says 5$/],
  },
  {
    what: 'the total of an invoice was altered',
    sql: [`update invoices set total_minor = total_minor + 1, tax_minor = tax_minor + 1 where ${thirdInvoice}`],
    faults: [/^invoice 3 \(inv_\w+\) differs from its payment$/],
  },
  {
    what: 'the total of an invoice is not subtotal plus tax',
    sql: [`alter table invoices drop constraint invoices_check`, `update invoices set total_minor = 1 where ${thirdInvoice}`],
    faults: [/^invoice 3 \(inv_\w+\) has a total that is not subtotal plus tax$/, /^invoice 3 .* differs from its payment$/],
  },
  {
    what: 'a line of an invoice was altered',
    sql: [`update invoices set lines = jsonb_set(lines, '{0,amount_minor}', '"1"') where ${thirdInvoice}`],
    faults: [/^invoice 3 \(inv_\w+\) has lines of 1 and a subtotal of 150000$/],
  },
  {
    what: 'an invoice is unpaid while its payment is released',
    sql: [`update invoices set payment_status = 'unpaid', paid_at = null where ${thirdInvoice}`],
    faults: [/^invoice 3 \(inv_\w+\) is unpaid while its payment is released$/],
  },
  {
    what: 'a payment is pending while its invoice is paid',
    sql: [`update payments set status = 'pending', released_at = null where workspace_id = $w and id = ${third}`],
    faults: [
      /^invoice 3 \(inv_\w+\) is paid while its payment is pending$/,
      /^payment pay_\w+ has payable 0 in the ledger instead of -150000$/,
      /^released payments: 4 told by events, 3 in the books$/,
    ],
  },
  {
    what: 'the amount of a payment was altered',
    sql: [`update payments set amount_minor = 1 where workspace_id = $w and id = ${third}`],
    faults: [
      /^invoice 3 .* differs from its payment$/,
      /^payment pay_\w+ differs from its milestone$/,
      /^payment pay_\w+ has receivable 150000/,
    ],
  },
  {
    what: 'the amount of an approved milestone was altered',
    sql: [
      `update milestones set amount_minor = 7 where workspace_id = $w and id = (select milestone_id from payments where workspace_id = $w and id = ${third})`,
    ],
    faults: [/^payment pay_\w+ differs from its milestone$/],
  },
  {
    what: 'a ledger entry is missing',
    sql: [`delete from ledger_entries where workspace_id = $w and payment_id = ${third} and line = 2`],
    faults: [
      /^payment pay_\w+ has posting [\w-]+, which sums to 150000$/,
      /^payment pay_\w+ has paid_out 0 in the ledger instead of -150000$/,
    ],
  },
  {
    what: 'a ledger entry was changed',
    sql: [`update ledger_entries set amount_minor = 9 where workspace_id = $w and payment_id = ${third} and line = 1`],
    faults: [
      /^payment pay_\w+ has posting [\w-]+, which sums to -149991$/,
      /^payment pay_\w+ has receivable 9 in the ledger instead of 150000$/,
    ],
  },
  {
    what: 'a ledger entry is in another currency',
    sql: [`update ledger_entries set currency = 'EUR' where workspace_id = $w and payment_id = ${third} and line = 1`],
    faults: [/^payment pay_\w+ has a ledger entry in EUR$/],
  },
  {
    what: 'a payment has no entries',
    sql: [`delete from ledger_entries where workspace_id = $w and payment_id = ${third}`],
    faults: [/^payment pay_\w+ has receivable 0 in the ledger instead of 150000$/],
  },
  {
    what: 'money was posted for no payment',
    sql: [
      `insert into ledger_entries select workspace_id, gen_random_uuid(), line, account, project_id, gen_random_uuid(), currency, amount_minor, created_at
       from ledger_entries where workspace_id = $w and payment_id = ${third}`,
    ],
    faults: [/^2 ledger entries belong to no payment of their project$/],
  },
  {
    what: 'the entries of a payment were moved to another project',
    sql: [`update ledger_entries set project_id = gen_random_uuid() where workspace_id = $w and payment_id = ${third}`],
    faults: [/^2 ledger entries belong to no payment of their project$/],
  },
  {
    what: 'every row of one approval was multiplied alike, and only the log still knows',
    sql: [
      `update milestones set amount_minor = amount_minor * 10 where workspace_id = $w and id = (select milestone_id from payments where workspace_id = $w and id = ${third})`,
      `update payments set amount_minor = amount_minor * 10 where workspace_id = $w and id = ${third}`,
      `update ledger_entries set amount_minor = amount_minor * 10 where workspace_id = $w and payment_id = ${third}`,
      `update invoices set subtotal_minor = 1500000, total_minor = 1500000, lines = jsonb_set(lines, '{0,amount_minor}', '"1500000"') where ${thirdInvoice}`,
    ],
    faults: [
      /^event \d+ says milestone.approved of mil_\w+ over 150000 USD; the books say 1500000 USD$/,
      /^event \d+ says invoice.issued of mil_\w+ over 150000 USD; the books say 1500000 USD$/,
      /^event \d+ says payment.released of mil_\w+ over 150000 USD; the books say 1500000 USD$/,
    ],
  },
  {
    what: 'an approved milestone has no payment',
    sql: [
      `delete from ledger_entries where workspace_id = $w and payment_id = ${third}`,
      `delete from payments where workspace_id = $w and id = ${third}`,
    ],
    faults: [
      /^invoice 3 \(inv_\w+\) has no payment that names it$/,
      /^milestone mil_\w+ is approved and has no payment$/,
      /^released payments/,
    ],
  },
  {
    what: 'a payment belongs to a milestone that is not approved',
    sql: [
      `update milestones set status = 'submitted' where workspace_id = $w and id = (select milestone_id from payments where workspace_id = $w and id = ${third})`,
    ],
    faults: [
      /^payment pay_\w+ belongs to a milestone that is submitted, not approved$/,
      /^approved milestones: 5 told by events, 4 in the books$/,
    ],
  },
];

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`verify, ${kind.name}${kind.available ? '' : ` (skipped: ${kind.reason})`}`, () => {
    let app: TestApp;
    let workspace: string;
    let sound: WorkspaceReport[];
    const verify = (expect: readonly string[] = [], database: Queryable = app.database) => verifyBooks(database, expect, () => undefined);

    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
      workspace = encodeId('workspace', app.workspaceId);
      for (let i = 0; i < 4; i++) await bringMilestone(app, 'approved');
      await bringMilestone(app, 'approved', { release: 'manual' });
      await bringMilestone(app, 'submitted');
      sound = await verify();
    });
    afterAll(() => app.stop());

    /** Carries the damage out, looks, and takes it back. */
    async function faultsAfter(sql: readonly string[]): Promise<readonly string[]> {
      const last = sound[0]?.events;
      let reports: WorkspaceReport[] = [];
      const rolledBack = new Error('rolled back');
      const looking = app.database.transaction(async (transaction) => {
        for (const table of guarded) await transaction.query(`alter table ${table} disable trigger user`);
        for (const text of sql) await transaction.query(text.replaceAll('$w', `'${app.workspaceId}'`).replaceAll('$last', String(last)));
        reports = await verify([], transaction);
        throw rolledBack;
      });
      await expect(looking).rejects.toBe(rolledBack);
      return reports[0]?.faults ?? [];
    }

    test('books that nobody touched pass, and the report counts what was proven', async () => {
      expect(sound).toHaveLength(1);
      expect(sound[0]).toMatchObject({ workspace, faults: [], faultsInAll: 0, events: 32, invoices: 5, payments: 5, milestones: 6 });
      expect((await verify([sound[0]?.head as string, `${workspace}:${sound[0]?.head}`]))[0]?.faults).toEqual([]);
    });

    test.each(damages)('is found: $what', async ({ sql, faults }) => {
      const found = await faultsAfter(sql);
      for (const fault of faults) expect(found.filter((text) => fault.test(text))).toHaveLength(1);
      expect((await verify())[0]?.faults).toEqual([]);
    });

    test('more faults than anybody reads are counted, not listed', async () => {
      const found = await faultsAfter([`update events set body = body || ' ' where workspace_id = $w`]);
      expect(found).toHaveLength(20);
    });
  });
}
