// Owns how a message crosses the proxies: a message carries one request, or a batch of them, and
// passes the points of all of them. Whatever happens to one request of a batch happens to the whole
// message.

import type { Fate, Points } from './points.ts';
import { pointsOf } from './requests.ts';
import type { Exchange } from './traffic.ts';

/** Waits at the points of the requests, one after the other. */
export async function requestFate(points: Points, exchanges: readonly Exchange[]): Promise<Fate> {
  for (const exchange of exchanges) {
    const [point] = pointsOf(exchange.op);
    const fate = await points.reach({ point, ...exchange });
    if (fate !== 'pass') return setAll(exchanges, 'requestFate', fate);
  }
  return 'pass';
}

/** Waits at the points of the answers, one after the other. */
export async function answerFate(points: Points, exchanges: readonly Exchange[]): Promise<Fate> {
  setAll(exchanges, 'answerFate', 'pass');
  for (const { op, worker, granted, taskId, leaseId } of exchanges) {
    const point = pointsOf(op)[1];
    const [grant] = granted;
    // An empty answer to a lease request is no grant: nothing bites there.
    if (point === 'grant' && grant === undefined) continue;
    const named = { taskId: taskId ?? grant?.taskId, leaseId: leaseId ?? grant?.leaseId };
    const fate = await points.reach({ point, worker, ...named });
    if (fate !== 'pass') return setAll(exchanges, 'answerFate', fate);
  }
  return 'pass';
}

function setAll(
  exchanges: readonly Exchange[],
  which: 'requestFate' | 'answerFate',
  fate: Fate,
): Fate {
  for (const exchange of exchanges) exchange[which] = fate;
  return fate;
}
