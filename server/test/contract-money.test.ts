// Money over HTTP: what an approval and a release make, once and only once, with amounts to the unit; and who may do which.
// After every test the books prove themselves.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bringMilestone, type Json, type TestApp } from './support/app.ts';
import { openContractApp, snapshot } from './support/contract.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openContractApp();
});
afterEach(async () => {
  expect(await app.faults()).toEqual([]);
});
afterAll(() => app.stop());

const move = (id: string, status: string, key = app.key) => app.call('PATCH', `/v1/milestones/${id}`, { key, body: { status } });
const paymentsOf = async (milestoneId: string): Promise<Json[]> => (await app.ok('GET', `/v1/payments?milestone_id=${milestoneId}`)).data;
const invoicesOf = async (milestoneId: string): Promise<Json[]> => (await app.ok('GET', `/v1/invoices?milestone_id=${milestoneId}`)).data;

async function eventsOf(milestoneId: string): Promise<string[]> {
  const types: string[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await app.ok('GET', `/v1/events?limit=100&after_seq=${after}`);
    types.push(...page.data.filter(({ data }: Json) => data.milestoneId === milestoneId).map(({ type }: Json) => type));
    after = page.data.at(-1)?.seq ?? after;
    more = page.has_more;
  }
  return types;
}

describe('an approval', () => {
  test('makes one released payment and one issued, paid invoice that name each other, and tells it in order', async () => {
    const { project, milestone } = await bringMilestone(app, 'approved', { payee_id: 'payee' });
    const [payment, ...others] = await paymentsOf(milestone.id);
    const [invoice] = await invoicesOf(milestone.id);
    expect(others).toEqual([]);
    const shared = { project_id: project.id, milestone_id: milestone.id, client_id: 'acme', currency: 'USD' };
    expect(payment).toMatchObject({
      ...shared,
      invoice_id: invoice.id,
      payee_id: 'payee',
      amount: 150_000,
      status: 'released',
      allowed_transitions: [],
    });
    expect(payment.released_at).toBe(milestone.approved_at);
    expect(invoice).toMatchObject({
      ...shared,
      payment_id: payment.id,
      status: 'issued',
      payment_status: 'paid',
      subtotal: 150_000,
      tax: 0,
      total: 150_000,
    });
    expect(invoice.lines).toEqual([expect.objectContaining({ milestone_id: milestone.id, description: 'Design', amount: 150_000 })]);
    const told = await eventsOf(milestone.id);
    expect(told).toEqual(['milestone.created', 'milestone.submitted', 'milestone.approved', 'invoice.issued', 'payment.released']);
    for (const [path, record] of [
      ['payments', payment],
      // By its id it is told with the letterhead of its issue.
      ['invoices', { ...invoice, letterhead: expect.objectContaining({ name: 'test' }) }],
    ] as const) {
      expect(await app.ok('GET', `/v1/${path}/${record.id}`)).toEqual(record);
      expect(await app.ok('GET', `/v1/projects/${project.id}/payments`)).toMatchObject({ data: [payment] });
    }
  });

  test('a second one, of ten at once or later, is 200 and unchanged: no second payment, invoice or event', async () => {
    const { milestone } = await bringMilestone(app, 'submitted');
    const answers = await Promise.all(Array.from({ length: 10 }, () => move(milestone.id, 'approved')));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]?.text]);
    const before = await snapshot(app);
    const again = await move(milestone.id, 'approved');
    expect([again.status, again.text, again.headers.etag]).toEqual([200, answers[0]?.text, answers[0]?.headers.etag]);
    expect(await snapshot(app)).toEqual(before);
    expect([(await paymentsOf(milestone.id)).length, (await invoicesOf(milestone.id)).length]).toEqual([1, 1]);
  });

  test('of what was never submitted is a 409, and no money moves', async () => {
    const { milestone } = await bringMilestone(app, 'pending');
    const before = await snapshot(app);
    expect((await move(milestone.id, 'approved')).body.code).toBe('invalid_transition');
    expect(await snapshot(app)).toEqual(before);
  });

  test('in an archived project is a 409, and no money moves', async () => {
    const { project, milestone } = await bringMilestone(app, 'submitted');
    await app.ok('PATCH', `/v1/projects/${project.id}`, { body: { status: 'archived' } });
    expect((await move(milestone.id, 'approved')).body.code).toBe('project_archived');
    expect(await paymentsOf(milestone.id)).toEqual([]);
  });
});

describe('a manual release', () => {
  test('the approval leaves the payment pending and the invoice unpaid; the release lets it go, marks it paid, and tells it then', async () => {
    const { milestone } = await bringMilestone(app, 'approved', { release: 'manual' });
    const [pending] = await paymentsOf(milestone.id);
    expect(pending).toMatchObject({ status: 'pending', released_at: null, allowed_transitions: ['released'] });
    expect((await invoicesOf(milestone.id))[0]).toMatchObject({ payment_status: 'unpaid', paid_at: null });
    expect(await eventsOf(milestone.id)).not.toContain('payment.released');
    const released = await app.ok('POST', `/v1/payments/${pending.id}/release`);
    expect(released).toEqual({ ...pending, status: 'released', allowed_transitions: [], released_at: expect.any(String) });
    expect((await invoicesOf(milestone.id))[0]).toMatchObject({ payment_status: 'paid', paid_at: released.released_at });
    expect((await eventsOf(milestone.id)).at(-1)).toBe('payment.released');
  });

  test('a second one, of ten at once or later, is 200 and unchanged', async () => {
    const { milestone } = await bringMilestone(app, 'approved', { release: 'manual' });
    const [{ id }] = (await paymentsOf(milestone.id)) as [Json];
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.call('POST', `/v1/payments/${id}/release`)));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]?.text]);
    const before = await snapshot(app);
    expect((await app.call('POST', `/v1/payments/${id}/release`)).text).toBe(answers[0]?.text);
    expect(await snapshot(app)).toEqual(before);
  });

  test('of a payment that was released with its approval changes nothing', async () => {
    const { milestone } = await bringMilestone(app, 'approved');
    const [payment] = await paymentsOf(milestone.id);
    const before = await snapshot(app);
    expect(await app.ok('POST', `/v1/payments/${payment.id}/release`)).toEqual(payment);
    expect(await snapshot(app)).toEqual(before);
  });

  test('still works in an archived project, for archiving ends work and not debts', async () => {
    const { project, milestone } = await bringMilestone(app, 'approved', { release: 'manual' });
    await app.ok('PATCH', `/v1/projects/${project.id}`, { body: { status: 'archived' } });
    const [{ id }] = (await paymentsOf(milestone.id)) as [Json];
    expect((await app.ok('POST', `/v1/payments/${id}/release`)).status).toBe('released');
  });

  test('a change of the mode counts for approvals from then on, not for payments that are waiting', async () => {
    const { project, milestone } = await bringMilestone(app, 'approved', { release: 'manual' });
    await app.ok('PATCH', `/v1/projects/${project.id}`, { body: { release: 'on_approval', client_id: 'renamed' } });
    expect((await paymentsOf(milestone.id))[0]).toMatchObject({ status: 'pending', client_id: 'acme' });
    const next = await app.ok('POST', `/v1/projects/${project.id}/milestones`, { body: { title: 't', amount: 5 } });
    for (const status of ['submitted', 'approved']) expect((await move(next.id, status)).status).toBe(200);
    expect((await paymentsOf(next.id))[0]).toMatchObject({ status: 'released', client_id: 'renamed' });
  });
});

describe('who may do what', () => {
  test('one key submits, another approves, a third releases; none can do the work of the others', async () => {
    const { milestone } = await bringMilestone(app, 'pending', { release: 'manual' });
    const submitter = await app.addKey(app.workspaceId, ['milestones:submit']);
    const approver = await app.addKey(app.workspaceId, ['milestones:approve']);
    const releaser = await app.addKey(app.workspaceId, ['payments:release']);
    for (const key of [approver, releaser]) expect((await move(milestone.id, 'submitted', key)).status).toBe(403);
    expect((await move(milestone.id, 'submitted', submitter)).status).toBe(200);
    for (const key of [submitter, releaser]) expect((await move(milestone.id, 'approved', key)).status).toBe(403);
    expect((await move(milestone.id, 'approved', approver)).status).toBe(200);
    const [{ id }] = (await paymentsOf(milestone.id)) as [Json];
    for (const key of [submitter, approver]) {
      expect((await app.call('POST', `/v1/payments/${id}/release`, { key })).status).toBe(403);
      expect((await app.call('GET', `/v1/payments/${id}`, { key })).status).toBe(403);
    }
    expect((await app.call('POST', `/v1/payments/${id}/release`, { key: releaser })).status).toBe(200);
  });
});

describe('amounts', () => {
  test.each([
    [1, 'USD'],
    [999_999_999_999, 'USD'],
    [1, 'JPY'],
    [999_999_999_999, 'JPY'],
    [1, 'KWD'],
    [999_999_999_999, 'KWD'],
    [9_007_199_255, 'CLF'],
  ])('%i %s goes through the milestone, the payment, the invoice and the event to the unit', async (amount, currency) => {
    const { milestone } = await bringMilestone(app, 'approved', {}, { amount, currency });
    const [[payment], [invoice]] = [await paymentsOf(milestone.id), await invoicesOf(milestone.id)];
    for (const record of [milestone, payment]) expect([record.amount, record.currency]).toEqual([amount, currency]);
    expect([invoice.total, invoice.lines[0].amount, invoice.currency]).toEqual([amount, amount, currency]);
    const told = (await app.ok('GET', '/v1/events?limit=100')).data.concat(
      (await app.ok('GET', '/v1/events?limit=100&after_seq=100')).data,
    );
    const data = told.find((event: Json) => event.type === 'payment.released' && event.data.milestoneId === milestone.id).data;
    expect(data).toEqual({ projectId: milestone.project_id, milestoneId: milestone.id, amount, currency });
  });

  test.each(['100', '100.0', '1e2', '1.0E+2', '1000e-1'])('%s is a hundred, as JSON says', async (literal) => {
    const raw = `{"name":"n","client_id":"c","milestones":[{"title":"t","amount":${literal}}]}`;
    const { id } = await app.ok('POST', '/v1/projects', { raw });
    expect((await app.ok('GET', `/v1/projects/${id}/milestones`)).data[0].amount).toBe(100);
  });

  test.each([
    '100.00000000000000001',
    '99.999999999999999999',
    '1.00000000000000000001e2',
  ])('%s is refused, never rounded to a hundred', async (literal) => {
    const before = await snapshot(app);
    const raw = `{"name":"n","client_id":"c","milestones":[{"title":"t","amount":${literal}}]}`;
    const { status, body } = await app.call('POST', '/v1/projects', { raw });
    expect([status, body.code]).toEqual([400, 'malformed_json']);
    expect(await snapshot(app)).toEqual(before);
  });

  test('milestones of one project may differ in currency, and each is paid and invoiced in its own', async () => {
    const milestones = ['USD', 'jpy', 'Kwd', undefined].map((currency, i) => ({ title: 't', amount: 10 + i, currency }));
    const { id } = await app.ok('POST', '/v1/projects', { body: { name: 'n', client_id: 'c', currency: 'EUR', milestones } });
    for (const milestone of (await app.ok('GET', `/v1/projects/${id}/milestones`)).data) {
      for (const status of ['submitted', 'approved']) await move(milestone.id, status);
    }
    const { data } = await app.ok('GET', `/v1/projects/${id}/payments`);
    expect(data.map(({ amount, currency }: Json) => `${amount} ${currency}`).sort()).toEqual(['10 USD', '11 JPY', '12 KWD', '13 EUR']);
    const balances = await app.database.query<{ currency: string; sum: bigint }>(
      'select currency, sum(amount_minor) as sum from ledger_entries group by currency',
    );
    for (const { sum } of balances) expect(Number(sum)).toBe(0);
  });
});
