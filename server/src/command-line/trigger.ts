// `tranche trigger <event>`: makes the real event occur on a running server, through its public API, and shows it.
// Adds what it needs (a project, a milestone) and says so; it never forges an event.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventType } from '../domain/event.ts';
import { OperatorError } from '../operations/operator-error.ts';
import { type ApiTarget, type Client, createClient, type ToldEvent } from './client.ts';

/** For the event to arrive once all that brings it about is done. */
const EVENT_TIMEOUT_MS = 30_000;

/** What of the event's payload tells that it is this one. */
type Mark = Readonly<Record<string, unknown>>;
type Story = (stage: Stage) => Promise<Mark>;

interface Stage {
  readonly client: Client;
  /** Tells of a step. */
  did(what: string): void;
  /** Done when the event was seen. */
  readonly endings: (() => Promise<void>)[];
}

async function addProject({ client, did }: Stage): Promise<string> {
  const project = await client.send('POST', '/v1/projects', { name: 'Triggered from the terminal', client_id: 'tranche-trigger' });
  did(`created project ${project.id}`);
  return String(project.id);
}

async function addMilestone(stage: Stage): Promise<{ projectId: string; milestoneId: string }> {
  const projectId = await addProject(stage);
  const milestone = await stage.client.send('POST', `/v1/projects/${projectId}/milestones`, { title: 'Design', amount: 150_000 });
  stage.did(`created milestone ${milestone.id}`);
  return { projectId, milestoneId: String(milestone.id) };
}

/** A milestone that is moved through the statuses in turn. */
const moving =
  (...moves: readonly { readonly status: string; readonly reason?: string }[]): Story =>
  async (stage) => {
    const { milestoneId } = await addMilestone(stage);
    for (const move of moves) {
      await stage.client.send('PATCH', `/v1/milestones/${milestoneId}`, move);
      stage.did(`moved it to ${move.status}`);
    }
    return { milestoneId };
  };

const approving = moving({ status: 'submitted' }, { status: 'approved' });

/** What brings each kind of event about. */
const stories = {
  'project.created': async (stage) => ({ projectId: await addProject(stage) }),
  'milestone.created': moving(),
  'milestone.submitted': moving({ status: 'submitted' }),
  'milestone.approved': approving,
  'payment.released': approving,
  'invoice.issued': approving,
  'milestone.changes_requested': moving({ status: 'submitted' }, { status: 'changes_requested', reason: 'The logo is missing.' }),
  'milestone.cancelled': moving({ status: 'cancelled' }),
  'project.archived': async (stage) => {
    const projectId = await addProject(stage);
    await stage.client.send('PATCH', `/v1/projects/${projectId}`, { status: 'archived' });
    stage.did('archived it');
    return { projectId };
  },
  'webhook_endpoint.disabled': disableEndpoint,
} as const satisfies Record<EventType, Story>;

/** A receiver of our own says 410 Gone to the first webhook; the server has to be able to reach this machine on loopback. */
async function disableEndpoint(stage: Stage): Promise<Mark> {
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.writeHead(410).end()));
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  stage.endings.push(async () => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const body = { url, description: 'tranche trigger', event_types: ['project.created'] };
  const endpoint = await stage.client.send('POST', '/v1/webhook_endpoints', body);
  stage.did(`registered endpoint ${endpoint.id}, which answers 410`);
  stage.endings.push(async () => {
    await stage.client.send('DELETE', `/v1/webhook_endpoints/${endpoint.id}`);
    stage.did('deleted the endpoint');
  });
  await addProject(stage);
  return { endpointId: endpoint.id };
}

export const triggerable = Object.keys(stories) as EventType[];

export interface TriggerOptions {
  readonly target: ApiTarget;
  readonly type: string;
  readonly say: (line: string) => void;
}

export async function trigger({ target, type, say }: TriggerOptions): Promise<void> {
  const story: Story | undefined = Object.hasOwn(stories, type) ? stories[type as EventType] : undefined;
  if (story === undefined) throw new OperatorError(`There is no event "${type}". There are: ${triggerable.join(', ')}.`);
  const event = await bringAbout(story, type, createClient(target), say);
  say(`${event.type}  #${event.seq}  ${event.id}`);
}

async function bringAbout(story: Story, type: string, client: Client, say: (line: string) => void): Promise<ToldEvent> {
  const endings: (() => Promise<void>)[] = [];
  const stream = await client.openStream({ event_types: type }, null);
  const late = setTimeout(stream.close, 2 * EVENT_TIMEOUT_MS);
  try {
    // The first message says where the stream stands: what happens from here on will be in it.
    await stream.messages.next();
    const mark = await story({ client, did: (what) => say(`  ${what}`), endings });
    const arriving = setTimeout(stream.close, EVENT_TIMEOUT_MS);
    return await find(stream.messages, mark).finally(() => clearTimeout(arriving));
  } finally {
    clearTimeout(late);
    for (const end of endings.reverse()) await end();
    stream.close();
  }
}

async function find(messages: AsyncIterable<{ readonly data: string | null }>, mark: Mark): Promise<ToldEvent> {
  try {
    for await (const { data } of messages) {
      if (data === null) continue;
      const event = JSON.parse(data) as ToldEvent;
      if (Object.entries(mark).every(([name, value]) => event.data[name] === value)) return event;
    }
  } catch {
    // Left because the time was over, or broken off: said below either way.
  }
  throw new OperatorError('All was done, but the event has not been seen yet. Look for it with GET /v1/events.');
}
