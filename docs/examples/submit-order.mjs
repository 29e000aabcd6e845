// What a web application needs of leasehold, whatever its framework is: one client for the process,
// and an answer to the caller for each thing that can happen.
import { Client } from 'leasehold';

// A request of the web waits for this, so it must end before the caller, or a proxy in front, gives
// up: two tries of two seconds, and not the nine tries that a program without a caller can afford.
// The client is kept on the global object because Next loads a changed module again.
const KEPT = Symbol.for('shop.leasehold.client');
globalThis[KEPT] ??= new Client({
  url: process.env.LEASEHOLD_URL,
  token: process.env.LEASEHOLD_TOKEN,
  timeoutMs: 2_000,
  retries: 1,
});
export const client = globalThis[KEPT];

/**
 * @param customer who is signed in: one customer's key must not hit another one's task
 * @param key the caller's Idempotency-Key: the same for each repetition of one request
 */
export async function submitOrder(customer, key, order) {
  if (!/^[\x21-\x7e]{1,100}$/.test(key ?? '')) {
    return answer(400, { error: 'the header Idempotency-Key is missing or unusable' });
  }
  try {
    const { taskId, deduplicated } = await client.submit({
      queue: 'orders',
      payload: order,
      requestId: `order:${customer}:${key}`,
    });
    // Accepted, and on the disk: the work itself comes later.
    return answer(202, { taskId, deduplicated });
  } catch (error) {
    const { reason, outcome } = error.refusal ?? {};
    if (reason === 'request_id_conflict') {
      return answer(422, { error: 'this Idempotency-Key was used for another order' });
    }
    if (reason === 'too_large') return answer(413, { error: 'the order is too large' });
    if (error.code === 'UNREACHABLE' || outcome === 'UNAVAILABLE') {
      // It may have been taken. Repeated with the same key, it cannot become a second task.
      return answer(
        503,
        { error: 'try again, with the same Idempotency-Key' },
        { 'retry-after': '2' },
      );
    }
    throw error;
  }
}

const answer = (status, body, headers = {}) => ({ status, body, headers });
