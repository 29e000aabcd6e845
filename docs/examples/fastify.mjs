// The same by way of Fastify, which closes the client itself: hooks of onClose run after the last
// request was answered.
//
// usage: PORT=3000 LEASEHOLD_URL=http://127.0.0.1:5327 node fastify.mjs
import fastify from 'fastify';
import { client, submitOrder } from './submit-order.mjs';

const app = fastify();
app.addHook('onClose', async () => client.close());

app.post('/orders', async (request, reply) => {
  const customer = 'ada'; // Whoever your session says.
  const key = request.headers['idempotency-key'];
  const { status, body, headers } = await submitOrder(customer, key, request.body);
  return reply.code(status).headers(headers).send(body);
});

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log(`listening on port ${app.server.address().port}`);
process.once('SIGTERM', () => void app.close());
