// Owns the checks between two ticks while a request or the log waits for a time. Ticks may be a
// minute apart, and a waiting request or a retry of the log must not be late by that much. It
// decides nothing: a check does the same as a tick.

import type { LoopView } from '../../src/loop/loop-view.ts';

const LOOK_MS = 50;

/** A parked request waits for a time, a log that refuses for being asked again. */
export const waitsForTime = (view: Pick<LoopView, 'parkedRequests' | 'mode'>): boolean =>
  view.parkedRequests > 0 || view.mode === 'read-only';

export interface BetweenTicksOptions {
  readonly tickMs: number;
  /** Whether anything waits; asked before each look. */
  isWanted(): boolean;
  look(): void;
}

export class BetweenTicks {
  readonly #options: BetweenTicksOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BetweenTicksOptions) {
    this.#options = options;
  }

  /** Something may wait by now: looks until nothing does. Cheap when it looks already. */
  begin(): void {
    const { tickMs, isWanted, look } = this.#options;
    if (this.#timer !== undefined || tickMs <= LOOK_MS || !isWanted()) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!isWanted()) return;
      look();
      this.begin();
    }, LOOK_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
