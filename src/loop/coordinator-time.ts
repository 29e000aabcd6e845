// Owns coordinator time. It starts at the later of the wall clock and the log's newest record, and
// then follows the monotonic clock alone. A coordinator that takes over from one on another
// machine starts at that one's time instead. The wall clocks of two machines differ, and a clock
// that is ahead would end every lease. Coordinator time never runs backward, in a run or over
// restarts.

/** The two clocks of a machine, in ms; handed in, so that tests and the simulator own time. */
export interface Clock {
  wall(): number;
  monotonic(): number;
}

const DAY_MS = 86_400_000;
/** A wall clock further ahead of the log is refused: it would end and forget everything. */
export const CLOCK_AHEAD_MAX_MS = 365 * DAY_MS;

export class ClockRefused extends Error {
  override readonly name = 'ClockRefused';
  readonly code = 'CLOCK_REFUSED';
}

export class CoordinatorTime {
  private readonly clock: Clock;
  private readonly base: number;
  private readonly startedAt: number;

  /**
   * @param lastAt time of the log's newest record, 0 for an empty log
   * @param inherited time of the coordinator before, as it would be now; the wall clock has no say
   * @throws ClockRefused when the wall clock is more than 365 days ahead of the log.
   */
  constructor(clock: Clock, lastAt: number, acceptClock: boolean, inherited?: number) {
    this.clock = clock;
    this.startedAt = clock.monotonic();
    if (inherited !== undefined) {
      this.base = Math.max(Math.floor(inherited), lastAt);
      return;
    }
    const wall = Math.floor(clock.wall());
    const ahead = lastAt === 0 ? 0 : wall - lastAt;
    if (ahead > CLOCK_AHEAD_MAX_MS && !acceptClock) throw clockRefused(wall, ahead);
    this.base = Math.max(wall, lastAt);
  }

  now(): number {
    return this.base + Math.floor(this.clock.monotonic() - this.startedAt);
  }

  /** Coordinator time minus wall clock, in ms. */
  offset(): number {
    return this.now() - Math.floor(this.clock.wall());
  }
}

const clockRefused = (wall: number, ahead: number): ClockRefused =>
  new ClockRefused(
    `the clock says ${new Date(wall).toISOString()}, ` +
      `${Math.floor(ahead / DAY_MS)} days after the newest record: ` +
      'if that is right, start once with --accept-clock',
  );
