// Holds the log to leaving nothing in memory of a segment that it has left: a log rolls over,
// rewrites and merges for years, and opens environments for all of it.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { grow, SEGMENT_BYTES } from './growing.ts';
import { started } from './records.ts';

/** Some ten groups fill a segment, so each turn makes one, rewrites it and merges what is left. */
const GROUPS_A_TURN = 12;
const TURNS = 12;
/** One environment's write buffer is 65 kB, and a turn opens several; code alone grows a little. */
const A_TURN_MAX_BYTES = 50_000;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Bytes in use, of objects and of buffers, after what can go has gone. */
async function live(): Promise<{ readonly buffers: number; readonly heap: number }> {
  for (let turns = 0; turns < 4; turns += 1) {
    // Finalizers of native objects run in turns of the event loop.
    await setImmediate();
    gc();
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return { buffers: arrayBuffers, heap: heapUsed };
}

describe('segments that were left', () => {
  it('leave nothing in memory', async () => {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-left-'));
    const log = await openLmdbLog({ dataDir, segmentBytes: SEGMENT_BYTES, lock: false });
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) {
        await grow(log, GROUPS_A_TURN);
        for (const segment of log.sealed()) await log.rewrite(segment, () => false);
        while ((await log.merge()) !== undefined);
      }
    };
    try {
      await log.start(started(1));
      await turns(4);
      const before = await live();
      await turns(TURNS);
      const after = await live();
      expect((after.buffers - before.buffers) / TURNS, 'buffers').to.be.below(A_TURN_MAX_BYTES);
      expect((after.heap - before.heap) / TURNS, 'heap').to.be.below(A_TURN_MAX_BYTES);
    } finally {
      await log.close();
      fs.rmSync(dataDir, { recursive: true });
    }
  }).timeout(180_000);
});
