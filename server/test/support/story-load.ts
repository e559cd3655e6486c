// Load with a memory: many clients order, submit and approve side by side, and afterwards every answer is held against the books.
// Speaks only through the API. A story is one project with one milestone; each of its three writes is a step.

import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer, Json, ServerProcess } from './server-process.ts';

/** Whoever answers: a server, or a place where one is found again after a restart. */
export type Asked = Pick<ServerProcess, 'call' | 'ok'>;

/** Numbers from 0 to 1 that a seed decides. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Step {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: object;
  readonly idempotencyKey: string | undefined;
  /** The successful answer; null while none has come. */
  answer: Answer | null;
}

interface Story {
  readonly clientId: string;
  readonly key: string;
  readonly keyed: boolean;
  readonly amount: number;
  readonly steps: Step[];
  milestoneId: string | null;
}

export interface Books {
  readonly projects: readonly Json[];
  readonly milestones: readonly Json[];
  readonly payments: readonly Json[];
  readonly invoices: readonly Json[];
  readonly events: readonly Json[];
}

export class Load {
  readonly stories: Story[] = [];
  /** Successful answers so far. */
  answered = 0;
  /** Statuses that were neither a success nor 503, which nothing here deserves. */
  readonly unexpected: string[] = [];
  /** Answers of 503, and how many of them said when to come back. */
  refused = 0;
  refusedWithRetryAfter = 0;
  readonly #keys: readonly string[];
  readonly #random: () => number;
  #running = false;

  constructor(keys: readonly string[], random: () => number) {
    this.#keys = keys;
    this.#random = random;
  }

  /** Clients that tell story after story, each at one of the servers, until told to stop. A client whose request goes unanswered begins another. */
  async run(servers: readonly Asked[], clients: number): Promise<void> {
    this.#running = true;
    const client = async (server: Asked): Promise<void> => {
      while (this.#running) {
        const story = this.#begin();
        const told = await this.#tell(server, story).catch(() => 'cut');
        if (told === 'cut') await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, i) => client(servers[i % servers.length] as Asked)));
  }

  stop(): void {
    this.#running = false;
  }

  #begin(): Story {
    const amount = 1 + Math.floor(this.#random() * 1e6);
    const clientId = `client_${this.stories.length}`;
    const key = this.#keys[Math.floor(this.#random() * this.#keys.length)] as string;
    const story: Story = { clientId, key, keyed: this.#random() < 0.5, amount, steps: [], milestoneId: null };
    this.stories.push(story);
    this.#add(story, 'POST', '/v1/projects', { name: 'Website', client_id: clientId, milestones: [{ title: 'Design', amount }] });
    return story;
  }

  #add(story: Story, method: Step['method'], path: string, body: object): Step {
    const step = { method, path, body, idempotencyKey: story.keyed ? randomUUID() : undefined, answer: null };
    story.steps.push(step);
    return step;
  }

  /** From where the story stands to its end. `refused` when the server said 503; rejects when no answer came. */
  async #tell(server: Asked, story: Story): Promise<'done' | 'refused'> {
    for (;;) {
      const step = story.steps.at(-1) as Step;
      if (step.answer === null && !(await this.#ask(server, story, step))) return 'refused';
      if (story.steps.length === 3) return 'done';
      if (story.milestoneId === null) {
        const projectId = story.steps[0]?.answer?.body.id;
        const list = await server.call('GET', `/v1/projects/${projectId}/milestones`, { key: story.key });
        if (!this.#isSuccess(list)) return 'refused';
        story.milestoneId = list.body.data[0].id as string;
      }
      this.#add(story, 'PATCH', `/v1/milestones/${story.milestoneId}`, { status: story.steps.length === 1 ? 'submitted' : 'approved' });
    }
  }

  async #ask(server: Asked, story: Story, step: Step): Promise<boolean> {
    const { method, path, body, idempotencyKey } = step;
    const answer = await server.call(method, path, { body, key: story.key, idempotencyKey });
    if (!this.#isSuccess(answer)) return false;
    step.answer = answer;
    this.answered += 1;
    return true;
  }

  #isSuccess(answer: Answer): boolean {
    if (answer.status < 300) return true;
    if (answer.status === 503) {
      this.refused += 1;
      if (Number(answer.headers.get('retry-after')) >= 1) this.refusedWithRetryAfter += 1;
    } else this.unexpected.push(`${answer.status} ${answer.text}`);
    return false;
  }

  /** Repeats every step that has an idempotency key, answered or not, and brings every story to its end. */
  async settle(server: Asked): Promise<void> {
    for (let at = 0; at < this.stories.length; at += 16) {
      await Promise.all(this.stories.slice(at, at + 16).map((story) => this.#settleOne(server, story)));
    }
  }

  async #settleOne(server: Asked, story: Story): Promise<void> {
    for (const { method, path, body, idempotencyKey, answer } of story.steps) {
      if (idempotencyKey === undefined || answer === null) continue;
      const again = await server.call(method, path, { body, key: story.key, idempotencyKey });
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([answer.status, answer.text, 'true']);
    }
    const first = story.steps[0] as Step;
    if (first.answer === null && !story.keyed) {
      // Without an idempotency key a client looks before it asks again.
      const found = await server.ok('GET', `/v1/projects?client_id=${story.clientId}`, { key: story.key });
      if (found.data.length > 0) {
        const answer = await server.call('GET', `/v1/projects/${found.data[0].id}`, { key: story.key });
        first.answer = answer;
      }
    }
    expect(await this.#tell(server, story)).toBe('done');
  }

  /**
   * Every answer has its whole effect in the books, and what went unanswered is there wholly or not at all; nothing is there twice.
   * `others` are projects that the test made besides.
   */
  check(books: Books, others = 0): void {
    const faults: string[] = [];
    const index = indexOf(books);
    for (const story of this.stories) for (const fault of faultsOf(story, index)) faults.push(`${story.clientId}: ${fault}`);
    expect(faults).toEqual([]);
    expect(this.unexpected).toEqual([]);
    const known = new Set(this.stories.map((story) => story.clientId));
    expect(books.projects.filter((project) => !known.has(project.client_id))).toHaveLength(others);
    expect(books.events.map((event) => event.seq)).toEqual(books.events.map((_, i) => i + 1));
    expect(books.invoices.map((invoice) => invoice.number).sort()).toEqual(
      books.invoices.map((_, i) => `INV-${String(i + 1).padStart(6, '0')}`),
    );
  }
}

type Index = Record<'projects' | 'milestones' | 'payments' | 'invoices' | 'events', (id: string) => readonly Json[]>;

function indexOf(books: Books): Index {
  const by = (records: readonly Json[], name: (record: Json) => string): ((id: string) => readonly Json[]) => {
    const groups = Map.groupBy(records, name);
    return (id) => groups.get(id) ?? [];
  };
  return {
    projects: by(books.projects, (project) => project.client_id),
    milestones: by(books.milestones, (milestone) => milestone.project_id),
    payments: by(books.payments, (payment) => payment.project_id),
    invoices: by(books.invoices, (invoice) => invoice.project_id),
    events: by(books.events, (event) => event.data.projectId),
  };
}

const EVENTS_OF_STAGE = {
  pending: ['milestone.created', 'project.created'],
  submitted: ['milestone.created', 'milestone.submitted', 'project.created'],
  approved: ['invoice.issued', 'milestone.approved', 'milestone.created', 'milestone.submitted', 'payment.released', 'project.created'],
} as const;

function faultsOf(story: Story, index: Index): string[] {
  const [created, submitted, approved] = story.steps;
  const projects = index.projects(story.clientId);
  if (projects.length === 0) return created?.answer ? ['was answered and is not there'] : [];
  if (projects.length > 1) return [`is there ${projects.length} times`];
  const { id } = projects[0];
  const milestones = index.milestones(id);
  if (milestones.length !== 1) return [`has ${milestones.length} milestones`];
  const { status } = milestones[0] as { status: keyof typeof EVENTS_OF_STAGE };
  const faults: string[] = [];
  if (submitted?.answer && status === 'pending') faults.push('its submission was answered and is not there');
  if (approved?.answer && status !== 'approved') faults.push('its approval was answered and is not there');
  const told = index.events(id).map((event) => event.type);
  if (told.sort().join() !== EVENTS_OF_STAGE[status].join()) faults.push(`is ${status} and told ${told.join()}`);
  const money = [...index.payments(id), ...index.invoices(id)].map((record) => [
    record.object,
    record.status,
    record.amount ?? record.total,
  ]);
  const expected = [
    ['payment', 'released', story.amount],
    ['invoice', 'issued', story.amount],
  ];
  if (JSON.stringify(money) !== JSON.stringify(status === 'approved' ? expected : []))
    faults.push(`is ${status} with ${JSON.stringify(money)}`);
  if (index.invoices(id).some((invoice) => invoice.payment_status !== 'paid')) faults.push('has an unpaid invoice');
  return faults;
}

const READS_AT_ONCE = 16;

/** Everything the API shows of the workspace. */
export async function readBooks(server: Asked, key?: string): Promise<Books> {
  const all = async (path: string): Promise<Json[]> => {
    const found: Json[] = [];
    for (let cursor = ''; ; ) {
      const page = await server.ok('GET', `${path}?limit=100${cursor}`, { key });
      found.push(...page.data);
      if (!page.has_more) return found;
      cursor = path === '/v1/events' ? `&after_seq=${found.at(-1).seq}` : `&starting_after=${page.next_cursor}`;
    }
  };
  const [projects, payments, invoices, events] = await Promise.all(['/v1/projects', '/v1/payments', '/v1/invoices', '/v1/events'].map(all));
  const milestones: Json[][] = [];
  const paths = (projects ?? []).map((project) => `/v1/projects/${project.id}/milestones`);
  // Hundreds at once would be refused, and rightly: on a busy machine the last of them would wait too long.
  for (let at = 0; at < paths.length; at += READS_AT_ONCE)
    milestones.push(...(await Promise.all(paths.slice(at, at + READS_AT_ONCE).map(all))));
  return {
    projects: projects ?? [],
    payments: payments ?? [],
    invoices: invoices ?? [],
    events: events ?? [],
    milestones: milestones.flat(),
  };
}
