// A worker in a process of its own that stops at signals: `signal-worker.js URL QUEUE [tells]`. It
// tells on the standard output that a task is in hand, and how many there were when it ended; with
// `tells`, also when it hears SIGINT. What is in hand is done when the standard input ends.

import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from '../../../src/index.ts';

const [url, queue, tells] = process.argv.slice(2) as [string, string, string | undefined];
if (tells !== undefined) {
  process.on('SIGINT', () => process.stdout.write(`heard ${performance.now()}\n`));
}
const mayEnd = new Promise((resolve) => process.stdin.once('end', resolve).resume());
let tasks = 0;
const worker = new Worker({
  url,
  queues: [queue],
  handler: (_, { signal }) =>
    new Promise((resolve, reject) => {
      tasks += 1;
      process.stdout.write('began\n');
      // A signal that was sent before the input ended is heard in these turns at the latest.
      void mayEnd.then(() => pause(100)).then(resolve);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
});
await worker.run({ signals: true });
const left = process.listenerCount('SIGTERM') + process.listenerCount('SIGHUP');
process.stdout.write(`ended after ${tasks}, ${left} listeners left\n`);
// Where it was told to stop at once, the input is still open.
process.stdin.destroy();
