// Owns what this run of the coordinator has seen of queues and what no record says: when each was
// last asked for and by whom, and how many tasks came and went in the last minute. Nothing decides
// by these facts, and a restart forgets them.

/** Queues that are kept at most. */
const QUEUES_MAX = 100_000;
const WINDOW_MS = 60_000;

export interface LastAsked {
  readonly at: number;
  readonly workerId: string;
}

interface Counts {
  submitted: number;
  finished: number;
}
const NOTHING: Counts = { submitted: 0, finished: 0 };

export class QueueSightings {
  /** Queue → when a worker last asked for it, the longest ago first. */
  readonly #asked = new Map<string, LastAsked>();
  /** Counts of this minute and of the one before, by queue. */
  #counts = new Map<string, Counts>();
  #before = new Map<string, Counts>();
  #window = 0;
  #since: number | undefined;

  /** This run decides requests from now on; a rebuild of the state does not begin a new one. */
  begin(now: number): void {
    this.#since ??= now;
  }

  /** Since when this run has seen what it tells; `now`: it has seen nothing. */
  sinceOr(now: number): number {
    return this.#since ?? now;
  }

  asked(queue: string, workerId: string, now: number): void {
    this.#asked.delete(queue);
    if (this.#asked.size >= QUEUES_MAX) {
      this.#asked.delete(this.#asked.keys().next().value as string);
    }
    this.#asked.set(queue, { at: now, workerId });
  }

  lastAsked(queue: string): LastAsked | undefined {
    return this.#asked.get(queue);
  }

  /** Queues that were asked for, the newest last. */
  newestAsked(most: number): string[] {
    return [...this.#asked.keys()].slice(-most);
  }

  submitted(queue: string, now: number): void {
    const counts = this.#countsOf(queue, now);
    if (counts !== undefined) counts.submitted += 1;
  }

  finished(queue: string, now: number): void {
    const counts = this.#countsOf(queue, now);
    if (counts !== undefined) counts.finished += 1;
  }

  /**
   * Tasks a second over the last minute. The minute before the present one counts with the part of
   * it that lies within the last 60 s.
   * A run that is younger than a minute is measured over its own age.
   * @param asOf an earlier moment than now: what has come since counts all the same. Of the minute
   * before the one before nothing is known any more, so its end is the earliest.
   */
  rates(queue: string, now: number, asOf = now): Counts {
    this.#turnTo(now);
    const passed = Math.min(now, asOf) - this.#window * WINDOW_MS;
    const share = 1 - Math.max(0, passed) / WINDOW_MS;
    const current = this.#counts.get(queue) ?? NOTHING;
    const before = this.#before.get(queue) ?? NOTHING;
    const seconds = Math.min(WINDOW_MS, Math.max(1_000, asOf - this.sinceOr(now))) / 1_000;
    const rate = (name: keyof Counts): number =>
      Math.round(((current[name] + before[name] * share) / seconds) * 1_000) / 1_000;
    return { submitted: rate('submitted'), finished: rate('finished') };
  }

  #countsOf(queue: string, now: number): Counts | undefined {
    this.#turnTo(now);
    const known = this.#counts.get(queue);
    if (known !== undefined || this.#counts.size >= QUEUES_MAX) return known;
    const counts = { submitted: 0, finished: 0 };
    this.#counts.set(queue, counts);
    return counts;
  }

  #turnTo(now: number): void {
    const window = Math.floor(now / WINDOW_MS);
    if (window === this.#window) return;
    this.#before = window === this.#window + 1 ? this.#counts : new Map();
    this.#counts = new Map();
    this.#window = window;
  }
}
