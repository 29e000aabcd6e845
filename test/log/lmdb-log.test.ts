// Holds the log on the device to the contract.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type LmdbLog, openLmdbLog } from '../../src/log/lmdb-log.ts';
import type { Log } from '../../src/log/log.ts';
import { holdsTheContract } from './contract.ts';
import { breakDataFile, rewriteEntry } from './lmdb-faults.ts';

/** A bound against hanging: a device that is only slow must not be given up. */
const STALL_MS = 60_000;

for (const [name, segmentBytes] of [
  ['LmdbLog', 64 * 1024 * 1024],
  ['LmdbLog with tiny segments', 1],
] as const) {
  holdsTheContract(name, segmentBytes === 1, async () => {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-log-'));
    const opened: LmdbLog[] = [];
    return {
      open: async (): Promise<Log> => {
        const log = await openLmdbLog({ dataDir, segmentBytes, lock: false, stallMs: STALL_MS });
        opened.push(log);
        return log;
      },
      failNext: () => breakDataFile(dataDir),
      damage: (seq, how) => rewriteEntry(dataDir, seq, how),
      remove: async () => {
        for (const log of opened) await log.close();
        fs.rmSync(dataDir, { recursive: true });
      },
    };
  });
}
