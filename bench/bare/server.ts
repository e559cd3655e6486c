// The bare server of the benchmark: Fastify answering fixed JSON, no database, no keys, no checks. What the framework alone can do.
// Exists only to be measured against. The texts it answers with are handed to it in the environment.

import fastify from 'fastify';

const { PORT, READ_BODY = '{}', LIST_BODY = '{}', CREATE_BODY = '{}', MOVE_BODY = '{}' } = process.env;
const json = 'application/json; charset=utf-8';
const app = fastify();
app.get('/v1/payments/:id', (_request, reply) => reply.type(json).send(READ_BODY));
app.get('/v1/payments', (_request, reply) => reply.type(json).send(LIST_BODY));
app.post('/v1/projects', (_request, reply) => reply.code(201).type(json).send(CREATE_BODY));
app.patch('/v1/milestones/:id', (_request, reply) => reply.type(json).send(MOVE_BODY));
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
