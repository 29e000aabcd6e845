// Submits a task, waits for its end, and shows that a repeated submit makes no second task.

import { Client } from 'leasehold';

const client = new Client({ url: process.env['LEASEHOLD_URL'] ?? 'http://127.0.0.1:5327' });
const order = { queue: 'greet', payload: { name: 'Ada' }, requestId: 'greeting-1' };
const first = await client.submit(order);
const again = await client.submit(order);
console.log(first.taskId === again.taskId, again.deduplicated);
const task = await client.task(first.taskId, { waitMs: 10_000 });
console.log(task.state, String(task.result));
client.close();
