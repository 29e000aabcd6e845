// A worker in a process of its own, for tests that stop the whole process: `child-worker.js URL
// QUEUE waits|blocks`. It tells on stdout, one JSON object a line, what happens. A handler that
// blocks does so until there is something to read on stdin.

import { readSync } from 'node:fs';
import { TaskAborted, Worker } from '../../../src/index.ts';

const [url, queue, how] = process.argv.slice(2) as [string, string, string];
const tell = (event: string, more: object = {}): void =>
  void process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);

const worker = new Worker({
  url,
  queues: [queue],
  handler: async (_, { signal }) => {
    tell('began');
    if (how === 'blocks') readSync(0, new Uint8Array(1));
    else await new Promise((resolve) => signal.addEventListener('abort', resolve));
    const code = signal.reason instanceof TaskAborted ? signal.reason.code : undefined;
    tell('ends', { code });
    return 'from the one that was stopped';
  },
});
for (const name of ['completed', 'failed', 'rejected', 'released'] as const) {
  worker.on(name, () => tell(name));
}
worker.on('lost', ({ reason }) => tell('lost', { reason }));
worker.on('protocol', ({ direction, op }) => {
  if (direction === 'request' && op !== 'lease' && op !== 'heartbeat') tell('sent', { op });
});
worker.on('error', () => {});
process.on('SIGTERM', () => void worker.stop({ graceMs: 0 }));
await worker.run();
