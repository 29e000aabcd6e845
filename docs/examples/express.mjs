// Orders by way of Express: the answer is 202 as soon as the task is on leasehold's disk.
//
// usage: PORT=3000 LEASEHOLD_URL=http://127.0.0.1:5327 node express.mjs
import express from 'express';
import { client, submitOrder } from './submit-order.mjs';

const app = express();
app.use(express.json());

app.post('/orders', async (request, response) => {
  const customer = 'ada'; // Whoever your session says.
  const key = request.get('idempotency-key');
  const { status, body, headers } = await submitOrder(customer, key, request.body);
  response.status(status).set(headers).json(body);
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on port ${server.address().port}`);
});

// Requests that are being answered may still submit: the client is closed after them.
process.once('SIGTERM', () => server.close(() => client.close()));
