// A Worker: the loop of loop.ts kept for you, with every request and answer shown.

import { PermanentFailure, Worker } from 'leasehold';

const worker = new Worker({
  url: process.env['LEASEHOLD_URL'] ?? 'tcp://127.0.0.1:5328',
  queues: ['greet'],
  concurrency: 8,
  handler: async (task, { signal, stillMine }) => {
    const { name } = task.json<{ name?: string }>();
    if (name === undefined) throw new PermanentFailure('nobody to greet');
    signal.throwIfAborted();
    // Right before an effect that cannot be undone.
    if (!(await stillMine())) throw new Error('the lease is not confirmed');
    return `Hello, ${name}!`;
  },
});
worker.on('completed', ({ task, outcome }) => console.log(task.taskId, outcome.outcome));
worker.on('failed', ({ task, failure }) => console.log(task.taskId, failure.reason));
worker.on('protocol', ({ direction, op, body }) => console.error(direction, op, body));
await worker.run({ untilEmpty: true, signals: true });
