// Every list of the interface over 250 records and more: walked forward and back without a gap or a repeat while others are added, and filtered.
// Which lists there are is read from the OpenAPI document.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeId, type Uuid } from '../src/domain/ids.ts';
import { newId } from '../src/open-store.ts';
import { insertRequestLog } from '../src/store/request-log.ts';
import type { Json, TestApp } from './support/app.ts';
import { addMember, addressOf, openContractApp, operations } from './support/contract.ts';

const COUNT = 250;
let app: TestApp;
const ids: Record<string, string> = {};
const eventIds: Uuid[] = [];

async function approve(milestone: Json, key?: string): Promise<void> {
  for (const status of ['submitted', 'approved'])
    await app.ok('PATCH', `/v1/milestones/${milestone.id}`, { body: { status }, ...(key && { key }) });
}

const times = (count: number, act: (n: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));
const addProject = (n: number) =>
  app.ok('POST', '/v1/projects', {
    body: { name: `p${n}`, client_id: `client_${n % 3}`, metadata: { n: `${n % 10}`, half: n % 2 ? 'odd' : 'even' } },
  });
const addMilestone = () => app.ok('POST', `/v1/projects/${ids.prj}/milestones`, { body: { title: 't', amount: 100 } });
const addPaid = async () => approve(await addMilestone());
const addKey = () => app.ok('POST', '/v1/api_keys', { body: { name: 'k', scopes: ['events:read'] } });
const addEndpoint = () => app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/' } });

/** Revoked at once, since so many do not wait side by side; the list shows them all the same. */
const addInvitation = async (n: number) => {
  const { id } = await app.ok('POST', '/v1/invitations', { body: { email: `p${n}@example.com`, role: 'viewer' } });
  return app.ok('DELETE', `/v1/invitations/${id}`);
};
const addRepair = () => app.ok('POST', '/v1/webhook_repairs', { body: { action: 'cancel', dry_run: true } });

/** Deliveries are made by a worker; here as rows, so that they stand still. */
const addDelivery = async (n: number): Promise<void> => {
  await app.database.query(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, created_at, completed_at) values ($1, $2, $3, $4, $5, 1, now(), now())`,
    [app.workspaceId, eventIds[n], decodeId('webhook_endpoint', ids.whe as string), n + 1, n % 2 ? 'failed' : 'succeeded'],
  );
};
const addAttempt = async (n: number): Promise<void> => {
  await app.database.query(
    `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code) values ($1, $2, $3, now(), 1, 500)`,
    [app.workspaceId, decodeId('delivery', ids.dlv as string), n + 1],
  );
};

/** Written by a timer, when it comes to it; here at once. */
const addRequest = async (): Promise<void> => {
  const entry = {
    requestId: 'req_1',
    method: 'GET' as const,
    path: '/v1/projects',
    status: 200,
    durationMs: 1,
    bySession: false,
    count: 1,
  };
  await insertRequestLog(app.database, [{ ...entry, workspaceId: app.workspaceId, id: newId(), keyId: newId(), createdAt: new Date() }]);
};

let added = COUNT;
/** How one more record of each list comes to be. */
const more: Record<string, () => Promise<unknown>> = {
  listProjects: () => addProject(added++),
  listProjectMilestones: addMilestone,
  listMilestones: addMilestone,
  listRequestLogEntries: addRequest,
  listProjectPayments: addPaid,
  listPayments: addPaid,
  listInvoices: addPaid,
  listEvents: addMilestone,
  listApiKeys: addKey,
  listWebhookEndpoints: addEndpoint,
  listWebhookEndpointDeliveries: () => addDelivery(added++),
  listDeliveries: () => addDelivery(added++),
  listWebhookRepairs: addRepair,
  listMembers: () => addMember(app),
  listInvitations: () => addInvitation(added++),
  listAuditEntries: addKey,
  listDeliveryAttempts: () => addAttempt(added++),
};

beforeAll(async () => {
  app = await openContractApp();
  await times(COUNT, addProject);
  ids.prj = (await app.ok('GET', '/v1/projects?limit=1')).data[0].id;
  await times(COUNT, addPaid);
  await times(COUNT, addKey);
  await times(COUNT, addEndpoint);
  await times(COUNT, addRepair);
  await times(COUNT, addRequest);
  await times(COUNT, () => addMember(app));
  for (let n = 0; n < COUNT; n++) await addInvitation(n);
  ids.whe = (await app.ok('GET', '/v1/webhook_endpoints?limit=1')).data[0].id;
  const rows = await app.database.query<{ id: Uuid }>('select id from events where workspace_id = $1 order by seq', [app.workspaceId]);
  eventIds.push(...rows.map(({ id }) => id));
  for (let n = 0; n < COUNT; n++) await addDelivery(n);
  ids.dlv = (await app.ok('GET', `/v1/webhook_endpoints/${ids.whe}/deliveries?limit=1`)).data[0].id;
  for (let n = 0; n < COUNT; n++) await addAttempt(n);
});
afterAll(() => app.stop());

const lists = operations.filter(({ name }) => name.startsWith('list'));
const idOf = (record: Json): string =>
  String(record.object === 'delivery_attempt' ? record.number : record.object === 'event' ? record.seq : record.id);

/** Follows `next_cursor` to the end; `between` runs between two pages. */
async function walk(path: string, cursor: string, between: () => Promise<unknown> = async () => undefined): Promise<Json[]> {
  const found: Json[] = [];
  for (let at = '', pages = 0; pages < 200; pages++) {
    const page = await app.ok('GET', `${path}${path.includes('?') ? '&' : '?'}limit=33${at}`);
    expect(page.has_more).toBe(page.next_cursor !== null);
    if (page.has_more) expect([page.data.length, page.next_cursor]).toEqual([33, idOf(page.data.at(-1))]);
    found.push(...page.data);
    if (!page.has_more) return found;
    at = `&${cursor}=${page.next_cursor}`;
    await between();
  }
  throw new Error('a list without an end');
}

const cursorOf = (query: readonly string[]): string => (query.includes('after_seq') ? 'after_seq' : 'starting_after');

describe('walking', () => {
  test('there is a way to add to every list, so that what follows covers them', () => {
    expect(lists.map(({ name }) => name).sort()).toEqual(Object.keys(more).sort());
  });

  test.each(lists)('$path forward: every record once, in order, although others are added meanwhile', async (operation) => {
    const path = addressOf(operation, ids);
    const cursor = cursorOf(operation.query);
    const before = (await walk(path, cursor)).map(idOf);
    expect(before.length).toBeGreaterThanOrEqual(COUNT);
    expect(new Set(before).size).toBe(before.length);
    const during = (await walk(path, cursor, more[operation.name])).map(idOf);
    if (cursor === 'after_seq') {
      expect(during.slice(0, before.length)).toEqual(before);
      expect(during).toEqual(during.map((_, i) => String(i + 1)));
    } else {
      expect(during).toEqual(before);
      const sorted =
        operation.name === 'listDeliveryAttempts' ? during.toSorted((a, b) => Number(b) - Number(a)) : during.toSorted().reverse();
      expect(during).toEqual(sorted);
    }
  });

  test.each(
    lists.filter(({ query }) => query.includes('ending_before')),
  )('$path back from the oldest: every record once, the added ones too', async (operation) => {
    const path = addressOf(operation, ids);
    const all = (await walk(path, 'starting_after')).map(idOf);
    const found = [all.at(-1) as string];
    for (let pages = 0; pages < 100; pages++) {
      const page = await app.ok('GET', `${path}?limit=40&ending_before=${found[0]}`);
      const pageIds = page.data.map(idOf);
      expect(pageIds).toEqual(pageIds.toSorted().reverse());
      found.unshift(...pageIds);
      if (!page.has_more) break;
      expect(pageIds).toHaveLength(40);
      if (pages < 3) await more[operation.name]?.();
    }
    expect(found.slice(-all.length)).toEqual(all);
    expect(found).toEqual((await walk(path, 'starting_after')).map(idOf));
    expect(found.length).toBe(all.length + 3);
  });

  test.each(lists)('$path has 20 a page where no limit is given, and 1 and 100 where asked', async (operation) => {
    const path = addressOf(operation, ids);
    for (const [query, length] of [
      ['', 20],
      ['?limit=1', 1],
      ['?limit=100', 100],
    ] as const) {
      expect((await app.ok('GET', path + query)).data).toHaveLength(length);
    }
  });
});

describe('filters hold on every page, alone and together', () => {
  test.each<[string, (record: Json) => boolean]>([
    ['/v1/projects?client_id=client_1', ({ client_id }) => client_id === 'client_1'],
    ['/v1/projects?metadata[half]=odd', ({ metadata }) => metadata.half === 'odd'],
    ['/v1/projects?metadata[half]=odd&metadata[n]=3&client_id=client_0', (p) => p.metadata.n === '3' && p.client_id === 'client_0'],
    ['/v1/projects?status=active', ({ status }) => status === 'active'],
    ['/v1/projects?status=archived', ({ status }) => status === 'archived'],
    ['/v1/projects?metadata[half]=neither', () => false],
    ['/v1/payments?status=released&client_id=client_0', (p) => p.status === 'released' && p.client_id === 'client_0'],
    ['/v1/payments?status=pending', ({ status }) => status === 'pending'],
    ['/v1/invoices?payment_status=paid&status=issued', (i) => i.payment_status === 'paid' && i.status === 'issued'],
    ['/v1/invoices?payment_status=unpaid', (i) => i.payment_status === 'unpaid'],
    ['/v1/invoices?status=void', (i) => i.status === 'void'],
  ])('%s', async (path, wanted) => {
    await app.ok('PATCH', `/v1/projects/${(await app.ok('GET', '/v1/projects?limit=9')).data[8].id}`, { body: { status: 'archived' } });
    const all = await walk(path.split('?')[0] as string, 'starting_after');
    expect((await walk(path, 'starting_after')).map(idOf)).toEqual(all.filter(wanted).map(idOf));
  });

  test('milestones and deliveries filter by status within their parent', async () => {
    const within = [
      [`/v1/projects/${ids.prj}/milestones`, 'pending'],
      [`/v1/projects/${ids.prj}/milestones`, 'approved'],
      [`/v1/projects/${ids.prj}/payments`, 'released'],
      [`/v1/webhook_endpoints/${ids.whe}/deliveries`, 'failed'],
      [`/v1/webhook_endpoints/${ids.whe}/deliveries`, 'pending'],
    ];
    for (const [path, status] of within) {
      const all = await walk(path as string, 'starting_after');
      const found = await walk(`${path}?status=${status}`, 'starting_after');
      expect(found.map(idOf)).toEqual(all.filter((record) => record.status === status).map(idOf));
    }
  });

  test('payments and invoices are found by their milestone and project', async () => {
    const payment = (await app.ok('GET', '/v1/payments?limit=7')).data[6];
    for (const path of ['/v1/payments', '/v1/invoices']) {
      const { data } = await app.ok('GET', `${path}?milestone_id=${payment.milestone_id}`);
      expect(data.map(({ milestone_id }: Json) => milestone_id)).toEqual([payment.milestone_id]);
      expect(await walk(`${path}?project_id=${ids.prj}`, 'starting_after')).toHaveLength((await walk(path, 'starting_after')).length);
      expect((await app.ok('GET', `${path}?project_id=prj_00000000000000000000000000`)).data).toEqual([]);
    }
  });

  test('created_after and created_before leave out the moment itself, in any offset', async () => {
    const all = await walk('/v1/projects', 'starting_after');
    const { created_at: moment } = all[100];
    const shifted = new Date(Date.parse(moment) + 7_200_000).toISOString().replace('Z', '%2B02:00');
    for (const at of [moment, shifted]) {
      const after = await walk(`/v1/projects?created_after=${at}`, 'starting_after');
      expect(after.map(idOf)).toEqual(all.filter(({ created_at }) => created_at > moment).map(idOf));
      const before = await walk(`/v1/projects?created_before=${at}`, 'starting_after');
      expect(before.map(idOf)).toEqual(all.filter(({ created_at }) => created_at < moment).map(idOf));
    }
    expect((await app.ok('GET', `/v1/projects?created_after=${moment}&created_before=${moment}`)).data).toEqual([]);
  });

  test('a list of what does not exist is a 404, a list of what is empty is empty', async () => {
    const { id } = await app.ok('POST', '/v1/projects', { body: { name: 'empty', client_id: 'c' } });
    const empty = { object: 'list', data: [], has_more: false, next_cursor: null };
    for (const kind of ['milestones', 'payments']) {
      expect(await app.ok('GET', `/v1/projects/${id}/${kind}`)).toEqual(empty);
      expect((await app.call('GET', `/v1/projects/prj_00000000000000000000000000/${kind}`)).status).toBe(404);
    }
  });
});
