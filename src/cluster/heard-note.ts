// Owns the note beside a node's copy of the log: what the node last heard of the leader's time, and
// when. With it a node that is started again still goes on from the leader's time. The note is not
// flushed, because it only says something to a machine that did not stop meanwhile.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type Heard,
  heardText,
  inheritedMs,
  type LocalTime,
  parseHeard,
} from '../loop/heard-time.ts';

const WRITE_EVERY_MS = 1_000;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export class HeardNote {
  heard: Heard | undefined;
  private readonly file: string;
  private readonly monotonicMs: () => number;
  private readonly bootId: string;
  private writtenAt = Number.NEGATIVE_INFINITY;

  /**
   * @param fallbackId for a system that does not name its boots: then nothing outlives a process
   */
  constructor(dataDir: string, monotonicMs: () => number, fallbackId: string) {
    this.file = path.join(dataDir, 'heard.json');
    this.monotonicMs = monotonicMs;
    this.bootId = textOf(BOOT_ID)?.trim() ?? fallbackId;
    const kept = textOf(this.file);
    this.heard = kept === undefined ? undefined : parseHeard(kept);
  }

  get local(): LocalTime {
    return { monotonicMs: this.monotonicMs(), bootId: this.bootId };
  }

  /**
   * The leader's time as it would be now; undefined: it was not heard since the machine started.
   * @param epoch of the leader that is replaced
   */
  inherited(epoch: number): number | undefined {
    return inheritedMs(this.heard, this.local, epoch);
  }

  keep(heard: Heard | undefined): void {
    if (heard === undefined || heard === this.heard) return;
    this.heard = heard;
    const now = this.monotonicMs();
    if (now - this.writtenAt < WRITE_EVERY_MS) return;
    this.writtenAt = now;
    try {
      writeFileSync(`${this.file}.new`, heardText(heard), { mode: 0o600 });
      renameSync(`${this.file}.new`, this.file);
    } catch {
      // The note is a help after a restart. A disk that takes nothing is told by the log itself.
    }
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
