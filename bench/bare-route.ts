// Owns the HTTP server that ours is measured beside: one fastify route with the fields of a submit,
// as a person would write it, answering from memory. A process of its own, as ours is.

import fastify from 'fastify';

const app = fastify();
const text = { type: 'string' };
const body = {
  type: 'object',
  required: ['payload'],
  additionalProperties: false,
  properties: { payload: text, queue: text, request_id: text },
};
const answer = { type: 'object', properties: { task_id: text, state: text } };
let id = 0;
app.post('/v1/tasks', { schema: { body, response: { 201: answer } } }, (_, reply) => {
  id += 1;
  return reply.code(201).send({ task_id: `T${id}`, state: 'WAITING' });
});
await app.listen({ port: Number(process.argv[2] ?? 0), host: '127.0.0.1' });
console.log((app.server.address() as { port: number }).port);
process.on('disconnect', () => process.exit());
