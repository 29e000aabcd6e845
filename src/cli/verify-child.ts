// Owns the reading of `verify`, in a process of its own. LMDB may end the process that opens a
// damaged file, and the process that tells the operator must outlive that.

import { stateDigest } from '../core/digest.ts';
import { brokenInvariants } from '../core/invariants.ts';
import { openLmdbReader } from '../log/lmdb-reader.ts';
import { LogCorrupt } from '../log/log.ts';
import { replay } from '../loop/replay.ts';
import { errnoText } from '../model/errno-text.ts';
import { digestText } from '../reader/digest-text.ts';

export type FromVerify =
  | { readonly kind: 'progress'; readonly records: number; readonly of: number }
  | Verified
  /** seq: the first record that cannot be believed, where it is one. */
  | {
      readonly kind: 'bad';
      readonly seq?: number;
      readonly code: string;
      readonly message: string;
    };

export interface Verified {
  readonly kind: 'verified';
  readonly digest: string;
  readonly records: number;
  readonly lastSequence: number;
  readonly bytes: number;
  readonly replayMs: number;
}

const say = (message: FromVerify): void => void process.send?.(message);

async function verify(dataDir: string): Promise<FromVerify> {
  const log = await openLmdbReader(dataDir);
  try {
    const of = log.lastNumber;
    const began = performance.now();
    const onProgress = (records: number): void => say({ kind: 'progress', records, of });
    const { state, records } = replay(log, { digestText, until: of, onProgress });
    const replayMs = performance.now() - began;
    const broken = brokenInvariants(state);
    if (broken.length > 0) throw new LogCorrupt(of, `the state after it is broken: ${broken[0]}`);
    const { total: bytes } = log.bytes();
    const digest = stateDigest(state);
    return { kind: 'verified', digest, records, lastSequence: of, bytes, replayMs };
  } finally {
    await log.close();
  }
}

const answer = await verify(process.argv[2] ?? '').catch((error: NodeJS.ErrnoException) => {
  if (error instanceof LogCorrupt) {
    const { code, message, seq } = error;
    return { kind: 'bad' as const, code, message, seq };
  }
  const { code = 'BUG', message, syscall, path = syscall } = error;
  if (syscall === undefined) return { kind: 'bad' as const, code, message };
  return { kind: 'bad' as const, code: 'LOG_IO', message: `${path}: ${errnoText(error)}` };
});
// The channel holds what was sent until it is written; leaving before would lose it.
process.send?.(answer, () => process.disconnect());
