// A worker in a process of its own that stops at signals: `signal-worker.js URL QUEUE`. It tells on
// the standard output that a task is in hand, and how many there were when it ended.

import { Worker } from '../../../src/index.ts';

const [url, queue] = process.argv.slice(2) as [string, string];
let tasks = 0;
const worker = new Worker({
  url,
  queues: [queue],
  handler: (_, { signal }) =>
    new Promise((resolve, reject) => {
      tasks += 1;
      process.stdout.write('began\n');
      const timer = setTimeout(resolve, 1_000);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    }),
});
await worker.run({ signals: true });
const left = process.listenerCount('SIGTERM') + process.listenerCount('SIGHUP');
process.stdout.write(`ended after ${tasks}, ${left} listeners left\n`);
