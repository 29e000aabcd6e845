// Owns one machine of a simulated cluster: its clocks, which are nobody else's, its disk with a
// mirror of the log, and what it has heard of the leader's time. Processes come and go on it.

import type { Clock } from '../../../src/loop/coordinator-time.ts';
import type { Heard, LocalTime } from '../../../src/loop/heard-time.ts';
import type { Events } from '../events.ts';
import type { Member } from './member.ts';
import type { MirrorStore } from './mirror.ts';

const START = 1_700_000_000_000;
const WALL_OFFSET_MAX_MS = 3 * 86_400_000;

/** A beat as it was delivered, noted beside the product to look at what it makes of it. */
export interface Delivered {
  readonly epoch: number;
  readonly revision: number;
  readonly at: number;
  readonly monotonicMs: number;
  readonly boot: number;
}

export class Machine implements Clock {
  readonly name: string;
  mirror: MirrorStore;
  /** The process that runs on it, if one does. */
  member: Member | undefined;
  /** What the product knows of the leader's time; a file beside the mirror. */
  heard: Heard | undefined;
  /** The newest beat of a leader that was delivered here. */
  delivered: Delivered | undefined;
  boot = 1;
  /** Counts its disks: each has a mirror of its own. */
  disk = 1;
  private readonly events: Events;
  private readonly rate: number;
  private wallOffsetMs: number;
  private stoppedUntil = 0;
  private knownAt = 0;
  private monotonicMs: number;

  /** @param ppm by how much its clocks are fast, in millionths; negative: slow */
  constructor(name: string, events: Events, mirror: MirrorStore, ppm: number, wallOffset: number) {
    this.name = name;
    this.events = events;
    this.mirror = mirror;
    this.rate = 1 + ppm / 1e6;
    this.wallOffsetMs = wallOffset;
    this.monotonicMs = 1_000;
  }

  get diskName(): string {
    return `${this.name}/${this.disk}`;
  }

  wall(): number {
    return START + this.events.now * this.rate + this.wallOffsetMs;
  }

  monotonic(): number {
    const { now } = this.events;
    const from = Math.max(this.knownAt, this.stoppedUntil);
    if (now > from) this.monotonicMs += (now - from) * this.rate;
    this.knownAt = now;
    return this.monotonicMs;
  }

  local(): LocalTime {
    return { monotonicMs: this.monotonic(), bootId: String(this.boot) };
  }

  /** The monotonic clock stands still, as in a machine that is suspended. */
  stopClock(ms: number): void {
    this.monotonic();
    this.stoppedUntil = Math.max(this.stoppedUntil, this.events.now + ms);
  }

  stepWall(ms: number): void {
    const offset = this.wallOffsetMs + ms;
    this.wallOffsetMs = Math.max(-WALL_OFFSET_MAX_MS, Math.min(WALL_OFFSET_MAX_MS, offset));
  }

  /** The machine starts anew: its monotonic clock counts from another moment. */
  reboot(): void {
    this.monotonic();
    this.boot += 1;
    this.monotonicMs = 1_000;
    this.stoppedUntil = 0;
  }

  /** The leader's time as it would be here now by the newest beat, said without the product. */
  inheritedNow(epoch: number): number | undefined {
    const { delivered } = this;
    if (delivered === undefined || delivered.boot !== this.boot) return undefined;
    if (delivered.epoch !== epoch) return 0;
    return delivered.at + Math.floor(this.monotonic() - delivered.monotonicMs);
  }
}
