// Owns the time of a coordinator in a test. The time stands still until the test moves it.

import { clock } from '../../actors/shared/clock.ts';
import { DURATION_EXAMPLES, readDuration } from '../model/read-duration.ts';

/** `31s`, `500ms`, `10m`, `2h`, `7d`, or a number of milliseconds. */
export type TestDuration = string | number;

export class TestClock {
  readonly #startedAt = clock.wall();
  readonly #moved: (toMs: number) => Promise<void>;
  #passedMs = 0;

  /** @internal @param moved is called with the time since the start that the clock is to reach. */
  constructor(moved: (toMs: number) => Promise<void>) {
    this.#moved = moved;
  }

  /** Coordinator time in ms since 1970. */
  now(): number {
    return this.#startedAt + this.#passedMs;
  }

  /**
   * Moves the clock. Leases expire, and delays and backoffs end, in the order of their times.
   * @returns when all of these changes are recorded
   * @throws RangeError for a duration that is negative or not a duration
   */
  async advance(duration: TestDuration): Promise<void> {
    const ms = typeof duration === 'number' ? duration : readDuration(duration);
    if (ms === undefined || !Number.isSafeInteger(ms) || ms < 0) {
      throw new RangeError(`advance: ${String(duration)} is not a duration (${DURATION_EXAMPLES})`);
    }
    await this.#moved(this.#passedMs + ms);
  }

  /** @internal Since the start, as the loop is told it. */
  get passedMs(): number {
    return this.#passedMs;
  }

  /** @internal */
  set passedMs(ms: number) {
    this.#passedMs = ms;
  }
}
