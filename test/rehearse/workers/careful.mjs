// A worker that keeps the contract: the Worker of the library, an effect that is asked for only
// when the lease has just been confirmed, and a ledger that refuses older tokens.

import { Worker } from 'leasehold';

const ledger = process.env['LEASEHOLD_EFFECTS_URL'];
const worker = new Worker({
  url: process.env['LEASEHOLD_URL'],
  waitMs: 1_000,
  timeoutMs: 3_000,
  handler: async (task, { signal, stillMine, fencingToken }) => {
    task.json();
    signal.throwIfAborted();
    const done = await (await fetch(`${ledger}?task_id=${task.taskId}`, { signal })).json();
    if (done.effects > 0) return 'done before';
    if (!(await stillMine())) throw new Error('the lease is lost');
    const body = JSON.stringify({ task_id: task.taskId, fencing_token: fencingToken });
    const answer = await fetch(ledger, { method: 'POST', body, signal });
    if (answer.status === 409) throw new Error('a newer attempt was here');
    return 'done';
  },
});
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => void worker.stop({ graceMs: 1_000, abortMs: 500 }));
}
await worker.run();
