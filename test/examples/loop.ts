// The contract by hand: lease, heartbeat, complete, look at the outcome. `Worker` does the same and
// more for you; this is what happens underneath.

import { Client, type Lease } from 'leasehold';

const client = new Client({ url: process.env['LEASEHOLD_URL'] ?? 'tcp://127.0.0.1:5328' });

async function doOne(task: Lease): Promise<void> {
  const work = new AbortController();
  const beat = setInterval(() => {
    client.heartbeat(task).then(
      (answer) => answer.outcome === 'REJECTED' && work.abort(new Error(answer.reason)),
      () => {}, // No answer: the next heartbeat may come through.
    );
  }, task.heartbeatIntervalMs);
  try {
    const report = await greet(task, work.signal).then(
      (result) => client.complete(task, result),
      (error) => (work.signal.aborted ? undefined : client.fail(task, { reason: `${error}` })),
    );
    // COMMITTED: the report counts. CANCELLED: the lease was lost, nothing more is to be sent.
    console.log(task.taskId, report?.outcome ?? 'lost');
  } finally {
    clearInterval(beat);
  }
}

async function greet(task: Lease, signal: AbortSignal): Promise<string> {
  const { name } = task.json<{ name: string }>();
  signal.throwIfAborted();
  return `Hello, ${name}!`;
}

for (;;) {
  const { leases } = await client.lease({ workerId: 'by-hand', queues: ['greet'], waitMs: 1_000 });
  if (leases.length === 0) break;
  for (const task of leases) await doOne(task);
}
client.close();
