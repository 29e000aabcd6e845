// The same as a route handler of Next: app/orders/route.js. Nobody closes the client here; it lives
// as long as the process does.
import { submitOrder } from './submit-order.mjs';

export const runtime = 'nodejs'; // The client needs sockets, which the Edge runtime has not.

export async function POST(request) {
  const customer = 'ada'; // Whoever your session says.
  const key = request.headers.get('idempotency-key') ?? undefined;
  const order = await request.json();
  const { status, body, headers } = await submitOrder(customer, key, order);
  return Response.json(body, { status, headers });
}
