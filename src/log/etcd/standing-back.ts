// Owns the time in which a writer that was asked to leave sends no group: another node may begin to
// lead then. That node's start rests on the end of the log as it has just seen it, so a writer that
// went on under load would make each such start vain.

import type { AppendResult } from '../log.ts';
import { pause, type Time } from './repeating.ts';

/** So often a group that waits asks whether another node leads by now. */
const ASK_MS = 50;

export class StandingBack {
  private readonly time: Time;
  private readonly signal: AbortSignal;
  private until = 0;

  /** @param signal ends the wait, too */
  constructor(time: Time, signal: AbortSignal) {
    this.time = time;
    this.signal = signal;
  }

  begin(ms: number): void {
    this.until = this.time.monotonic() + ms;
  }

  /**
   * @param confirm whether this process may still write
   * @returns 'durable' when a group may be sent; 'fenced' when another node leads
   */
  async over(confirm: () => Promise<AppendResult>): Promise<'durable' | 'fenced'> {
    while (this.time.monotonic() < this.until && !this.signal.aborted) {
      if ((await confirm()) === 'fenced') return 'fenced';
      await pause(this.time, ASK_MS, this.signal);
    }
    return 'durable';
  }
}
