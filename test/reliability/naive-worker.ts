// A worker as a process of its own that trusts its lease and never looks at the time: it leases a
// task, works, writes to a resource with the lease's number as fencing token, and reports, however
// long it was stopped in between. `naive-worker.js http|socket PORT NAME`; it tells its parent each
// step, and ends by itself when the parent says so and no task is left.

import { setTimeout as pause } from 'node:timers/promises';
import { HttpLink, type Op, SocketLink } from '../support/links.ts';
import type { Fields } from '../support/server.ts';
import { sharedMs, type Told } from './paused-crew.ts';

const WORK_MS = 150;
const WAIT_MS = 200;

const [kind, port, name] = process.argv.slice(2) as [string, string, string];
const link = kind === 'http' ? new HttpLink(Number(port)) : new SocketLink(Number(port));
const orders = { leave: false };
let written = (): void => {};

const tell = (told: Told): void => void process.send?.(told);

async function ask(op: Op, params: Fields): Promise<Fields> {
  const called = sharedMs();
  const answer = await link.call(op, params);
  tell({ kind: 'asked', asked: { op, params, called, returned: sharedMs(), answer } });
  return answer;
}

async function work({ task_id: taskId, lease_id: leaseId }: Fields): Promise<void> {
  const held = { taskId: taskId as string, token: Number(String(leaseId).slice(1)) };
  tell({ kind: 'leased', held });
  await pause(WORK_MS);
  const isWritten = new Promise<void>((resolve) => {
    written = resolve;
  });
  tell({ kind: 'write', held });
  await isWritten;
  await ask('complete', { task_id: taskId, lease_id: leaseId });
}

process.on('message', (message) => {
  if (message === 'written') written();
  else orders.leave = true;
});
for (let isIdle = false; !orders.leave || !isIdle; ) {
  const { leases } = await ask('lease', { worker_id: name, wait_ms: WAIT_MS });
  const [lease] = (leases ?? []) as Fields[];
  isIdle = lease === undefined;
  if (lease !== undefined) await work(lease);
}
link.close();
process.disconnect();
