// The bare server of the benchmark: Fastify answering fixed JSON, no database, no keys, no checks. What the framework alone can do.
// Exists only to be measured against. The two texts it answers with are handed to it in the environment.

import fastify from 'fastify';

const { PORT, READ_BODY = '{}', APPROVE_BODY = '{}' } = process.env;
const app = fastify();
app.get('/v1/payments/:id', (_request, reply) => reply.type('application/json; charset=utf-8').send(READ_BODY));
app.patch('/v1/milestones/:id', (_request, reply) => reply.type('application/json; charset=utf-8').send(APPROVE_BODY));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
