// Owns the watch over commits. During a commit the coordinator's thread waits for the device and
// cannot report that the device hangs. So another thread looks at the time at which the commit
// began.

import type { Progress } from '../shared/progress.ts';

/** For a commit that takes longer nobody waits: requests are refused until it is over. */
const REFUSE_MS = 10_000;
/** Nobody can say what becomes of a commit that takes longer, and it cannot be taken back. */
const HANG_MS = 2 * REFUSE_MS;
const LOOK_MS = REFUSE_MS / 40;

export interface WatchdogOptions {
  readonly progress: Pick<Progress, 'committingSince' | 'stalled'>;
  readonly monotonicMs: () => number;
  /** A commit takes longer than it may; or that commit is over. */
  stalled(isStalled: boolean): void;
  hangs(): void;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  look(): void {
    const { progress, monotonicMs, stalled, hangs } = this.#options;
    const since = progress.committingSince;
    const tookMs = since === 0 ? 0 : monotonicMs() - since;
    const isStalled = tookMs >= REFUSE_MS;
    if (isStalled !== progress.stalled) {
      progress.stalled = isStalled;
      stalled(isStalled);
    }
    if (tookMs >= HANG_MS) {
      this.stop();
      hangs();
    }
  }
}
