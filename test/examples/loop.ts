// The contract by hand: lease, heartbeat, complete, look at the outcome. `Worker` does the same and
// more for you; this is what happens underneath.

import { Client, type Lease } from 'leasehold';

const client = new Client({ url: process.env['LEASEHOLD_URL'] ?? 'tcp://127.0.0.1:5328' });

async function doOne(task: Lease): Promise<void> {
  // Heartbeats while executing; a rejected one means that the lease is lost.
  const work = new AbortController();
  const beat = setInterval(() => {
    client.heartbeat(task).then(
      (answer) => answer.outcome === 'REJECTED' && work.abort(new Error(answer.reason)),
      () => {}, // No answer: the next one may come through.
    );
  }, task.heartbeatIntervalMs);
  try {
    const result = await greet(task.json<{ name: string }>(), work.signal);
    const report = await client.complete(task, result);
    // COMMITTED: done. CANCELLED: the lease was lost, nothing more is to be sent.
    console.log(task.taskId, report.outcome);
  } catch (error) {
    if (!work.signal.aborted) await client.fail(task, { reason: String(error) });
  } finally {
    clearInterval(beat);
  }
}

async function greet({ name }: { name: string }, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  return `Hello, ${name}!`;
}

for (;;) {
  const { leases } = await client.lease({ workerId: 'by-hand', queues: ['greet'], waitMs: 1_000 });
  if (leases.length === 0) break;
  for (const task of leases) await doOne(task);
}
client.close();
