// Owns the state that a node keeps ready while it follows: each record that comes into its copy of
// the log is checked and applied at once, so that taking over replays nothing. History that the
// leader has forgotten is removed from this copy, too.

import type { DigestText } from '../core/state.ts';
import type { Archive, Log } from '../log/log.ts';
import { Removal, type RemovalEvents } from '../loop/removal.ts';
import { Replayer } from '../loop/replay.ts';
import type { LogRecord } from '../model/records.ts';

export interface StandbyOptions {
  /** This node's copy. */
  readonly log: Log;
  readonly archive: Archive | undefined;
  readonly digestText: DigestText;
  readonly events: RemovalEvents;
}

/** Records that are applied before other work gets a turn. */
const SLICE = 4_096;

export class Standby {
  readonly replayer: Replayer;
  private readonly log: Log;
  private readonly removal: Removal;

  constructor({ log, archive, digestText, events }: StandbyOptions) {
    this.log = log;
    this.replayer = new Replayer(log, digestText);
    this.removal = new Removal({ log, archive, events }, () => this.replayer.state);
  }

  /**
   * Applies what the copy holds already.
   * @returns false when the signal aborted before. @throws LogCorrupt
   */
  async warmUp(signal: AbortSignal, onProgress: (records: number) => void): Promise<boolean> {
    let records = 0;
    for (const record of this.log.read(this.replayer.state.lastSeq + 1)) {
      this.replayer.feed(record);
      records += 1;
      if (records % SLICE !== 0) continue;
      onProgress(records);
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return false;
    }
    this.removal.begin(this.replayer.state);
    return true;
  }

  /** This record is flushed in the copy. @throws LogCorrupt */
  took(record: LogRecord): void {
    this.replayer.feed(record);
    this.removal.noticed(record);
    this.removal.durable(record.seq);
  }

  /** Removes nothing more: the coordinator that takes over goes on with it. */
  stop(): Promise<void> {
    return this.removal.stop();
  }
}
