// Some data of every kind, so that pages have something to show: what a small agency would have after its first weeks.
// Goes through the API only.

import { joinAs, type Stack } from './stack.ts';

export interface Story {
  readonly projectId: string;
  readonly endpointId: string;
  readonly invoiceId: string;
  /** The page of an invitation that can be accepted, with its token. */
  readonly invitationPath: string;
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
  const invitation = await tellOfPeople(stack);
  const invoices = await stack.call('GET', '/v1/invoices?limit=1');
  const { pathname, hash } = new URL(invitation.link);
  return { projectId, endpointId: endpoint.id, invoiceId: invoices.data[0].id, invitationPath: pathname + hash };
}

/** A profile, a colleague of each kind who has come, and one who is invited. */
async function tellOfPeople(stack: Stack): Promise<{ readonly link: string }> {
  await stack.call('PATCH', '/v1/workspace', {
    name: 'Northlight Studio',
    legal_name: 'Northlight Studio GmbH',
    address_lines: ['Ludwigstraße 12', '80539 München', 'Germany'],
    tax_id: 'DE123456789',
    invoice_prefix: 'NL-2026-',
    tax_line: 'Reverse charge: the recipient accounts for VAT.',
    timezone: 'Europe/Berlin',
  });
  for (const [name, role] of [
    ['Grace Hopper', 'finance'],
    ['Alan Turing', 'developer'],
  ] as const)
    await joinAs(stack, { name, role });
  return stack.call('POST', '/v1/invitations', { email: 'katherine@example.com', role: 'viewer' });
}
