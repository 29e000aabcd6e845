// A threaded handler that blocks its thread for as long as its payload says, then tells where it
// ran.

import { threadId } from 'node:worker_threads';
import type { Handler } from '../../../src/index.ts';

const block: Handler = (task) => {
  const { blockMs } = task.json<{ blockMs: number }>();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
  return { threadId, attempt: task.attempt };
};
export default block;
