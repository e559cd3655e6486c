// The service as a good engineer writes it by hand: Fastify and pg, one query per read (the key's look-up included), one transaction per write.
// Exists only to be measured against: the same tables, indexes, rows and answers as ours, prepared statements, a tuned pool, no batching.

import { randomFillSync } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';
import { createIdGenerator, decodeId, encodeId } from '../../server/src/domain/ids.ts';
import { admit, refuse } from './access.ts';
import { milestoneAnswer, presentMilestone, presentProject, problemAnswer, projectAnswer } from './answers.ts';
import { approveMilestone } from './approve.ts';
import { createProject, type ProjectBody } from './create.ts';
import { mountReads } from './read.ts';
import { type Submission, submitMilestone } from './submit.ts';

const { PORT, DATABASE_URL, POOL_SIZE = '10' } = process.env;
// With 2 cores, pools of 8 to 12 were the fastest of 2 to 64.
const pool = new pg.Pool({
  pipeline: true,
  connectionString: DATABASE_URL,
  max: Number(POOL_SIZE),
  min: Number(POOL_SIZE),
  idleTimeoutMillis: 0,
});
const newId = createIdGenerator(Date.now, (bytes) => randomFillSync(bytes));
const app = fastify();
mountReads(app, pool);

const line = { type: 'string', minLength: 1, maxLength: 255 } as const;
const longText = { type: 'string', maxLength: 5000 } as const;
const links = { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 2000 } } as const;

const moveBody = {
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: {
    status: { type: 'string', enum: ['submitted', 'approved'] },
    submission: { type: 'object', additionalProperties: false, properties: { note: longText, links } },
  },
} as const;

interface MoveBody {
  readonly status: 'submitted' | 'approved';
  readonly submission?: Partial<Submission>;
}

app.patch<{ Params: { id: string }; Body: MoveBody }>(
  '/v1/milestones/:id',
  { schema: { body: moveBody, response: { 200: milestoneAnswer, '4xx': problemAnswer } } },
  async (request, reply) => {
    const { status, submission } = request.body;
    const id = decodeId('milestone', request.params.id);
    if (id === null) return refuse(reply, [404, 'not_found']);
    const workspaceId = await admit(
      pool,
      request.headers.authorization,
      status === 'approved' ? 'milestones:approve' : 'milestones:submit',
    );
    if (typeof workspaceId !== 'string') return refuse(reply, workspaceId);
    const outcome =
      status === 'approved'
        ? await approveMilestone(pool, newId, workspaceId, id)
        : await submitMilestone(pool, newId, workspaceId, id, { note: submission?.note ?? null, links: submission?.links ?? [] });
    return typeof outcome === 'string' ? refuse(reply, [outcome === 'not_found' ? 404 : 409, outcome]) : presentMilestone(outcome);
  },
);

const projectBody = {
  type: 'object',
  required: ['name', 'client_id'],
  additionalProperties: false,
  properties: {
    name: line,
    client_id: line,
    payee_id: line,
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    metadata: { type: 'object', maxProperties: 50, additionalProperties: { type: 'string', maxLength: 500 } },
    milestones: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        required: ['title', 'amount'],
        additionalProperties: false,
        properties: {
          title: line,
          amount: { type: 'integer', minimum: 1, maximum: 999_999_999_999 },
          due_date: { type: 'string', format: 'date' },
          description: longText,
        },
      },
    },
  },
} as const;

app.post<{ Body: ProjectBody }>(
  '/v1/projects',
  { schema: { body: projectBody, response: { 201: projectAnswer, '4xx': problemAnswer } } },
  async (request, reply) => {
    const workspaceId = await admit(pool, request.headers.authorization, 'projects:write');
    if (typeof workspaceId !== 'string') return refuse(reply, workspaceId);
    const project = await createProject(pool, newId, workspaceId, request.body);
    return reply
      .code(201)
      .header('location', `/v1/projects/${encodeId('project', project.id)}`)
      .send(presentProject(project));
  },
);

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
