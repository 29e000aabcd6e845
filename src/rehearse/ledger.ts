// Owns the ledger that counts a worker's effects. `POST {task_id, fencing_token}` is one effect.
// On request the ledger plays a store that refuses an effect whose fencing token is older than the
// newest one seen for the same task. `GET ?task_id=T2` answers how many effects a task has.

import http from 'node:http';
import { type Listening, listening } from './listening.ts';
import type { Points } from './points.ts';
import { jsonOf } from './requests.ts';
import type { Traffic } from './traffic.ts';

export interface LedgerOptions {
  readonly points: Points;
  readonly traffic: Traffic;
  /** Whether an effect with an older token than the newest seen of its task is refused. */
  readonly refusesOldTokens: boolean;
  /** Which worker process holds the lease of this token. */
  workerOf(fencingToken: number): number;
}

export function openLedger(options: LedgerOptions): Promise<Listening> {
  const newest = new Map<string, number>();
  return listening(
    http.createServer((request, response) => {
      serve(options, newest, request, response).catch(() => response.destroy());
    }),
  );
}

async function serve(
  { points, traffic, refusesOldTokens, workerOf }: LedgerOptions,
  newest: Map<string, number>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(body)}\n`);
  };
  const countOf = (taskId: string): number =>
    traffic.effects.filter((effect) => effect.taskId === taskId && effect.accepted).length;
  if (request.method === 'GET') {
    const asked = new URL(request.url ?? '/', 'http://ledger').searchParams.get('task_id') ?? '';
    return answer(200, { effects: countOf(asked) });
  }
  const body = jsonOf(Buffer.concat(chunks).toString('utf8'));
  const { task_id: taskId, fencing_token: fencingToken } = body;
  if (typeof taskId !== 'string' || typeof fencingToken !== 'number') {
    return answer(400, { error: 'the body is {"task_id": "T2", "fencing_token": 3}' });
  }
  const askedAt = traffic.now();
  const worker = workerOf(fencingToken);
  const arrival = { worker, taskId, leaseId: `L${fencingToken}` };
  const isLost = (await points.reach({ point: 'effect', ...arrival })) !== 'pass';
  // What its sender has given up meanwhile is not begun.
  if (isLost || response.destroyed) {
    traffic.abandoned.push({ askedAt, taskId, fencingToken });
    return void response.destroy();
  }
  const isOld = fencingToken < (newest.get(taskId) ?? 0);
  const accepted = !(isOld && refusesOldTokens);
  if (!isOld) newest.set(taskId, fencingToken);
  traffic.effects.push({ askedAt, at: traffic.now(), taskId, fencingToken, accepted });
  const fate = await points.reach({ point: 'effect answer', ...arrival });
  if (fate !== 'pass') return void response.destroy();
  if (accepted) answer(200, { effects: countOf(taskId) });
  else answer(409, { error: 'a newer fencing token has been seen for this task' });
}
