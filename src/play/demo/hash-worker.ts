// Owns one worker process of the demonstration. The worker reads the file that a task names and
// answers with facts about it. Its third argument may be a number: it then gets stuck in its task
// of that number, so that the demonstration can kill it there.

import { readFile } from 'node:fs/promises';
import { Worker } from '../../index.ts';
import { factsOf } from './file-hash.ts';

const [url = '', workerId = '', stuckAt = '0'] = process.argv.slice(2);
let begun = 0;

const worker = new Worker({
  url,
  workerId,
  queues: ['demo'],
  waitMs: 1_000,
  handler: async (task) => {
    begun += 1;
    if (begun === Number(stuckAt)) {
      process.stdout.write(`stuck in ${task.taskId} under ${task.leaseId}\n`);
      await new Promise(() => {});
    }
    return factsOf(await readFile(task.text()));
  },
});
// The coordinator's absence is a part of the play.
worker.on('error', (error) => process.stderr.write(`${workerId}: ${error.message}\n`));

// Whoever started this holds the other end of the standard input, so it also ends with them.
process.stdin.on('end', () => void worker.stop({ graceMs: 1_000 })).resume();
await worker.run();
