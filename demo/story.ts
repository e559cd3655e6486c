// The whole story against a running server: `npm run demo [-- --url http://127.0.0.1:8080 --key tr_live_…]`.
// A project is ordered, a milestone submitted and approved, its payment released and invoiced, and a receiver of its own is told.
// Uses the API as any platform would: fetch, a key and the official webhook library. Ends with an error when anything differs.

import { isDeepStrictEqual, parseArgs } from 'node:util';
import { formatMoney } from '../server/src/domain/money.ts';
import { Api, reach, StoryBroken } from './api.ts';
import { findKey } from './key.ts';
import { narrator } from './narrator.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

const HELP = `Plays the whole story against a running server, with a webhook receiver of its own.

  npm run demo -- [--url http://127.0.0.1:8080] [--key tr_live_…]

The address defaults to PORT on this machine, the key to TRANCHE_API_KEY; without a
key, one is made by the command line of the server on this machine.
`;
const WEBHOOK_TIMEOUT_MS = 30_000;
const EXPECTED_EVENTS = ['project.created', 'milestone.submitted', 'milestone.approved', 'payment.released'] as const;

interface Milestone {
  readonly id: string;
  readonly title: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly version: number;
}
interface Payment {
  readonly id: string;
  readonly milestone_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
}
interface Invoice {
  readonly id: string;
  readonly number: string;
  readonly total: number;
  readonly currency: string;
  readonly payment_status: string;
}

const money = (amount: number, currency: string): string => formatMoney(BigInt(amount), currency);

function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new StoryBroken(otherwise);
}

async function listOf<Resource>(api: Api, path: string): Promise<Resource[]> {
  const { body } = await api.get(path);
  expectThat(Array.isArray(body.data), `${path} did not answer with a list.`);
  return body.data as Resource[];
}

async function register(api: Api, receiver: Receiver): Promise<string> {
  narrator.step('The platform registers where it wants to be told');
  narrator.say(`A receiver of its own listens on ${receiver.url}`);
  const { body } = await api.post('/v1/webhook_endpoints', { url: receiver.url, description: 'The demo' });
  expectThat(typeof body.secret === 'string', 'The new endpoint came without a secret.');
  receiver.secret = String(body.secret);
  narrator.say('The answer holds a signing secret, which is shown this once.');
  return String(body.id);
}

async function order(api: Api): Promise<{ projectId: string; design: Milestone }> {
  narrator.step('A client orders a project with two milestones');
  const milestones = [
    { title: 'Design', amount: 150_000, currency: 'USD' },
    { title: 'Japanese edition', amount: 80_000, currency: 'JPY' },
  ];
  const { body } = await api.post('/v1/projects', { name: 'Website relaunch', client_id: 'client_42', milestones });
  const projectId = String(body.id);
  narrator.say(`${projectId} "${String(body.name)}"`);
  narrator.step('Its milestones wait for their work');
  const listed = await listOf<Milestone>(api, `/v1/projects/${projectId}/milestones`);
  expectThat(listed.length === milestones.length, `The project has ${listed.length} milestones instead of ${milestones.length}.`);
  for (const { title, amount, currency, status } of listed) {
    narrator.line(`${title.padEnd(20)} ${money(amount, currency).padStart(14)}   ${status}`);
  }
  const design = listed.find((milestone) => milestone.title === 'Design');
  if (design === undefined) throw new StoryBroken('The milestone "Design" is not among them.');
  return { projectId, design };
}

async function move(api: Api, milestone: Milestone, status: 'submitted' | 'approved'): Promise<Milestone> {
  const { body } = await api.patch(`/v1/milestones/${milestone.id}`, { status });
  expectThat(body.status === status, `The milestone is ${String(body.status)} instead of ${status}.`);
  return body as unknown as Milestone;
}

async function showMoney(api: Api, projectId: string, design: Milestone): Promise<void> {
  narrator.step('The same commit released the payment and issued its invoice');
  const payments = await listOf<Payment>(api, `/v1/projects/${projectId}/payments`);
  const [payment] = payments;
  if (payment === undefined || payments.length > 1) throw new StoryBroken(`There are ${payments.length} payments instead of 1.`);
  narrator.line(`${'Payment'.padEnd(20)} ${money(payment.amount, payment.currency).padStart(14)}   ${payment.status}`);
  const right = payment.milestone_id === design.id && payment.amount === design.amount && payment.currency === design.currency;
  expectThat(right && payment.status === 'released', 'The payment is not the released one of the approved milestone.');
  const invoices = await listOf<Invoice>(api, `/v1/invoices?project_id=${projectId}`);
  const [invoice] = invoices;
  if (invoice === undefined || invoices.length > 1) throw new StoryBroken(`There are ${invoices.length} invoices instead of 1.`);
  narrator.line(
    `${`Invoice ${invoice.number}`.padEnd(20)} ${money(invoice.total, invoice.currency).padStart(14)}   ${invoice.payment_status}`,
  );
  expectThat(
    invoice.total === design.amount && invoice.payment_status === 'paid',
    'The invoice is not the paid one of the approved milestone.',
  );
}

async function hear(receiver: Receiver, projectId: string, design: Milestone, approvedAt: number): Promise<Received> {
  narrator.step('The receiver is told, with a signature on each webhook');
  const mine = (): Received[] => receiver.received.filter((webhook) => webhook.data.projectId === projectId);
  const missing = (): string[] => EXPECTED_EVENTS.filter((kind) => !mine().some((webhook) => webhook.event === kind));
  const complete = await receiver.waitFor(() => missing().length === 0 || receiver.refused.length > 0, WEBHOOK_TIMEOUT_MS);
  if (receiver.refused.length > 0) throw new StoryBroken(`A webhook could not be verified: ${receiver.refused.join('; ')}`);
  if (!complete) {
    const hint = 'The server must be able to reach this machine; for a loopback address it needs WEBHOOK_NETWORK=any.';
    throw new StoryBroken(`After ${WEBHOOK_TIMEOUT_MS / 1000} s these have not arrived: ${missing().join(', ')}. ${hint}`);
  }
  const inOrder = mine().sort((a, b) => a.seq - b.seq);
  for (const { event, seq, receivedAt } of inOrder) {
    const delay = receivedAt - approvedAt;
    const when = delay >= 0 ? `${delay.toFixed(1).padStart(6)} ms after the approval` : 'before the approval';
    narrator.line(`signature valid   #${String(seq).padEnd(5)} ${event.padEnd(20)} ${when}`);
  }
  const kinds = inOrder.map((webhook) => webhook.event);
  expectThat(
    isDeepStrictEqual(kinds, [...EXPECTED_EVENTS]),
    `The sequence is ${kinds.join(', ')} instead of ${EXPECTED_EVENTS.join(', ')}.`,
  );
  const released = inOrder.at(-1) as Received;
  const expected = { projectId, milestoneId: design.id, amount: design.amount, currency: design.currency };
  narrator.say('payment.released carries exactly:');
  for (const line of JSON.stringify(released.data, null, 2).split('\n')) narrator.line(`  ${line}`);
  expectThat(isDeepStrictEqual(released.data, expected), `payment.released should carry ${JSON.stringify(expected)}.`);
  return released;
}

async function approveAgain(api: Api, projectId: string, design: Milestone, released: Received): Promise<void> {
  narrator.step('Somebody approves a second time: nothing happens twice');
  const again = await move(api, design, 'approved');
  expectThat(again.version === design.version, `The version went from ${design.version} to ${again.version}.`);
  const payments = await listOf<Payment>(api, `/v1/projects/${projectId}/payments`);
  const invoices = await listOf<Invoice>(api, `/v1/invoices?project_id=${projectId}`);
  const later = await listOf<{ type: string; data: { projectId?: string } }>(api, `/v1/events?after_seq=${released.seq}&limit=100`);
  const repeated = later.filter((event) => event.data.projectId === projectId).map((event) => event.type);
  expectThat(payments.length === 1 && invoices.length === 1, `There are ${payments.length} payments and ${invoices.length} invoices now.`);
  expectThat(repeated.length === 0, `New events appeared: ${repeated.join(', ')}.`);
  narrator.say(`Still version ${again.version}, one payment, one invoice, and no new event.`);
}

async function play(url: string, givenKey: string | undefined): Promise<void> {
  const health = await reach(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
  expectThat(health.ok, `${url}/healthz answered ${health.status}: this is not a healthy Tranche server.`);
  const { key, made } = await findKey(url, givenKey);
  narrator.title(`Tranche at ${url}${made ? ', with a new key named "demo"' : ''}`);
  const api = new Api(url, key);
  const receiver = await startReceiver();
  let endpointId: string | null = null;
  try {
    endpointId = await register(api, receiver);
    const { projectId, design } = await order(api);
    narrator.step('The work is done: the freelancer submits the design');
    await move(api, design, 'submitted');
    narrator.step('The client approves it');
    const approvedAt = performance.now();
    const approved = await move(api, design, 'approved');
    await showMoney(api, projectId, approved);
    const released = await hear(receiver, projectId, approved, approvedAt);
    await approveAgain(api, projectId, approved, released);
    narrator.step('The platform unsubscribes');
    const unsubscribed = endpointId;
    endpointId = null;
    await api.delete(`/v1/webhook_endpoints/${unsubscribed}`);
    narrator.good('As promised: one approval, one payment, one invoice, four signed webhooks.');
  } finally {
    // A story that broke must not leave an endpoint behind that nobody listens to.
    if (endpointId !== null) await api.delete(`/v1/webhook_endpoints/${endpointId}`).catch(() => undefined);
    receiver.close();
  }
}

async function main(): Promise<number> {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: 'string', default: `http://127.0.0.1:${process.env.PORT || 8080}` },
        key: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    if (values.help === true) {
      process.stdout.write(HELP);
      return 0;
    }
    if (!URL.canParse(values.url)) throw new StoryBroken(`--url "${values.url}" is not a URL. Example: http://127.0.0.1:8080`);
    await play(values.url.replace(/\/+$/, ''), values.key);
    return 0;
  } catch (error) {
    const expected =
      error instanceof StoryBroken || (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
    if (!expected) throw error;
    narrator.bad((error as Error).message);
    return 1;
  }
}

process.exitCode = await main();
