// Owns how long a group waits for company before its commit. A client that was just answered often
// asks again, and sooner than a commit takes. If the group at hand were committed at once, this
// client's next request would wait for that commit and then for its own. So the group waits a part
// of a commit's time for those who were answered last, as long as experience says that they come,
// and one commit serves them all. No request is decided here. A lone client never waits.

/** A wait is no longer than this share of what the newest commit took, and than so many ms. */
const SHARE = 0.75;
const WAIT_MAX_MS = 5;
/** What share of the awaited must have come for a wait to have paid. */
const ENOUGH = 0.9;
/** However often waits were in vain: after 2 to this power groups, one waits again. */
const REST_MAX_POWER = 6;
/** So long a thread that waits for company sleeps before it looks again. */
const SLICE_MS = 0.1;

const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Holds the thread up: a timer of the event loop is late by more than a whole wait. */
export const sleepSlice = (): void => void Atomics.wait(cell, 0, 0, SLICE_MS);

export class GroupWait {
  readonly #now: () => number;
  /** Answers since the newest commit began. */
  #leaving = 0;
  /** Clients that may ask again, and requests that have come since they were answered. */
  #awaited = 0;
  #came = 0;
  #until = 0;
  #isWaiting = false;
  /** Groups that do not wait: four times as many after a wait in vain, half after one that paid. */
  #restPower = 0;
  #resting = 0;

  /** @param now in ms, never running backward. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** An answer leaves. */
  answered(): void {
    this.#leaving += 1;
  }

  /** A request has come. */
  came(): void {
    this.#came += 1;
  }

  /** The answers of a commit, which took so long, have left; what came meanwhile has been taken. */
  committed(tookMs: number): void {
    this.#awaited = this.#leaving;
    this.#leaving = 0;
    this.#came = 0;
    this.#isWaiting = false;
    const isResting = this.#resting > 0;
    if (isResting) this.#resting -= 1;
    this.#until = isResting ? 0 : this.#now() + Math.min(tookMs * SHARE, WAIT_MAX_MS);
  }

  /** Whether a group that could be committed now should wait a little longer. */
  isAwaited(): boolean {
    const isOver = this.#came >= this.#awaited || this.#now() >= this.#until;
    if (isOver && this.#isWaiting) this.#learn(this.#came >= this.#awaited * ENOUGH);
    this.#isWaiting = !isOver;
    return !isOver;
  }

  #learn(hasPaid: boolean): void {
    this.#restPower = hasPaid
      ? Math.max(this.#restPower - 1, 0)
      : Math.min(this.#restPower + 2, REST_MAX_POWER);
    this.#resting = 2 ** this.#restPower - 1;
  }
}
