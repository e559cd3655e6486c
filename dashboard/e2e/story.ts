// Some data of every kind, so that pages have something to show: what a small agency would have after its first weeks.
// Goes through the API only.

import type { Stack } from './stack.ts';

export interface Story {
  readonly projectId: string;
  readonly endpointId: string;
  readonly invoiceId: string;
}

const names = [
  'Website relaunch',
  'Mobile app',
  'Annual report',
  'Brand film',
  'Data warehouse',
  'Café interior — Zürich',
  'Onboarding course',
];
const clients = ['acme', 'globex', 'initech', 'umbrella'];
const currencies = ['EUR', 'USD', 'JPY', 'KWD'];

export async function tellStory(stack: Stack): Promise<Story> {
  const endpoint = await stack.call('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/hook', description: 'Accounting' });
  let projectId = '';
  for (const [index, name] of names.entries()) {
    const client_id = clients[index % clients.length] as string;
    const currency = currencies[index % currencies.length] as string;
    const release = index % 3 === 2 ? 'manual' : 'on_approval';
    const project = await stack.call('POST', '/v1/projects', { name, client_id, currency, release, payee_id: `studio_${index}` });
    projectId ||= project.id;
    for (const [step, title] of ['Concept', 'Design', 'Build', 'Handover'].entries()) {
      const due_date = `2026-${String(((index + step) % 12) + 1).padStart(2, '0')}-15`;
      const milestone = await stack.call('POST', `/v1/projects/${project.id}/milestones`, {
        title,
        amount: 120_000 + index * 7_350 + step * 45_000,
        due_date,
      });
      const moves =
        [['in_progress', 'submitted', 'approved'], ['in_progress', 'submitted'], ['in_progress'], []][(step + (index % 2)) % 4] ?? [];
      for (const status of moves) await stack.call('PATCH', `/v1/milestones/${milestone.id}`, { status });
    }
  }
  const invoices = await stack.call('GET', '/v1/invoices?limit=1');
  return { projectId, endpointId: endpoint.id, invoiceId: invoices.data[0].id };
}
