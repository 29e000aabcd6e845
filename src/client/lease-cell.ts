// Owns the few bytes about one lease that the worker's thread and the heartbeat thread share: when
// the lease ends, and who may still report for it. The memory is shared because a handler can
// block the event loop of its thread. A message about a lost lease would then still be unread when
// the worker reports; the shared bytes are read at once.

const HELD = 0;
const REPORTING = 1;
const DEADLINE = 2;
const LOST = 3;
const ABANDONED = 4;

export type CellState = 'held' | 'reporting' | 'deadline' | 'lost' | 'abandoned';
const NAMES: readonly CellState[] = ['held', 'reporting', 'deadline', 'lost', 'abandoned'];

export class LeaseCell {
  readonly buffer: SharedArrayBuffer;
  readonly #state: Int32Array;
  readonly #endsAt: BigInt64Array;

  /** A new cell for a lease that ends at `endsAtMs`, or a view of one made elsewhere. */
  constructor(from: number | SharedArrayBuffer) {
    this.buffer = typeof from === 'number' ? new SharedArrayBuffer(16) : from;
    this.#endsAt = new BigInt64Array(this.buffer, 0, 1);
    this.#state = new Int32Array(this.buffer, 8, 1);
    if (typeof from === 'number') this.extend(from);
  }

  get state(): CellState {
    return NAMES[Atomics.load(this.#state, 0)] as CellState;
  }

  get endsAtMs(): number {
    return Number(Atomics.load(this.#endsAt, 0)) / 1_000;
  }

  extend(endsAtMs: number): void {
    Atomics.store(this.#endsAt, 0, BigInt(Math.floor(endsAtMs * 1_000)));
  }

  // Each method below moves the cell out of `held`. Only one call can succeed, because the
  // exchange is atomic; so at most one party reports for a lease.

  /** The worker is about to report. A lease whose time is over is lost instead. */
  claim(nowMs: number): boolean {
    if (nowMs >= this.endsAtMs) {
      this.lose();
      return false;
    }
    return this.#leave(REPORTING);
  }

  /** The heartbeat thread is about to report that the execution window is reached. */
  reachDeadline(): boolean {
    return this.#leave(DEADLINE);
  }

  lose(): boolean {
    return this.#leave(LOST);
  }

  /** The worker stops and the handler does not: nobody reports, the lease runs out. */
  abandon(): boolean {
    return this.#leave(ABANDONED);
  }

  #leave(to: number): boolean {
    return Atomics.compareExchange(this.#state, 0, HELD, to) === HELD;
  }
}
