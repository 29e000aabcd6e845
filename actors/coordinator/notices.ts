// Owns what an operator is told without asking: one line when a trouble begins and one when it is
// over, however often the trouble recurs in between. It writes nothing itself.

import { statfsSync } from 'node:fs';
import type { LoopView } from '../../src/loop/loop-view.ts';
import type { Mode } from '../../src/loop/turn.ts';
import type { LogLine } from '../shared/control.ts';

/** What there is to be seen of a coordinator, looked at every few ticks. */
export interface Sight {
  /** Of a clock that never runs backward, in ms. */
  readonly now: number;
  /** Coordinator time minus the wall clock, in ms. */
  readonly clockOffsetMs: number;
  /** Requests that the mailbox had no room for, since the process began; wraps at 2^32. */
  readonly refused: number;
  /** LeaseExpired in all. */
  readonly expirations: number;
  /** Steps of the removal of history; undefined while none runs. */
  readonly removing: number | undefined;
}

/** @param refused in all, as the mailbox counts them. */
export const sightOf = (view: LoopView, refused: number, now: number): Sight => ({
  now,
  clockOffsetMs: view.clockOffsetMs,
  refused,
  expirations: view.state.totals.leaseExpirations,
  removing: view.isRemoving ? view.removalSteps : undefined,
});

/** A trouble that stays away for so long is over. */
export const CALM_MS = 10_000;
/** So many leases that run out within CALM_MS are news: workers died, or are cut off. */
export const BURST = 100;
/** A step of the removal, one segment, takes seconds; this long only where a device hangs. */
export const STUCK_MS = 300_000;
const OFFSET_MS = 1_000;

type Fields = Readonly<Record<string, unknown>>;
const line = (level: 'info' | 'warn', msg: string, fields: Fields): LogLine => ({
  kind: 'log',
  level,
  msg,
  ...fields,
});

/** Where the log is, and why it did not take the newest group, in words. */
export interface Place {
  readonly dataDir: string;
  readonly why?: string | undefined;
  /** Several machines may write the log: a read is answered only when it is confirmed. */
  readonly isShared?: boolean;
}

export class Notices {
  private last: Sight | undefined;
  private offsetTold = 0;
  private readonly refusals = new Spell(1);
  private readonly expiries = new Spell(BURST);
  /** Groups that the log did not take since it was last calm; what was told of that. */
  private losses = 0;
  /** Since when the removal is at the step at which it is. */
  private stepAt = 0;
  private isStuck = false;
  private lossAt = 0;
  private readonly told = new Set<Mode>();
  private mode: Mode = 'starting';

  look(sight: Sight): LogLine[] {
    const before = this.last ?? sight;
    const isAtStep = sight.removing !== undefined && sight.removing === this.last?.removing;
    this.last = sight;
    if (!isAtStep) this.stepAt = sight.now;
    const refused = this.refusals.add((sight.refused - before.refused) >>> 0, sight.now);
    const expired = this.expiries.add(sight.expirations - before.expirations, sight.now);
    return [
      this.clock(sight.clockOffsetMs),
      refused === 'begun' && line('warn', 'the mailbox is full: requests are refused', {}),
      refused === 'over' &&
        line('info', 'the mailbox has room again', { refused: this.refusals.count }),
      expired === 'begun' &&
        line('warn', 'many leases run out', { expirations: this.expiries.count }),
      expired === 'over' &&
        line('info', 'few leases run out any more', { expirations: this.expiries.count }),
      this.stuck(sight.now),
      this.calm(sight.now),
    ].filter((one) => one !== false && one !== undefined);
  }

  /** @param place whose device may be full: LMDB calls that an input/output error. */
  entered(mode: Mode, now: number, fields: Fields, place: Place): LogLine[] {
    this.mode = mode;
    const isTrouble = mode === 'read-only' || mode === 'rebuilding';
    if (!isTrouble) {
      // A device that fails takes a small record now and then: `calm` tells when it is over.
      if (mode === 'serving' && this.losses > 0) return [];
      return [line('info', `coordinator is ${mode}`, { mode, ...fields })];
    }
    this.lossAt = now;
    if (mode === 'rebuilding' || this.losses === 0) this.losses += 1;
    if (this.told.has(mode)) return [];
    this.told.add(mode);
    const msg =
      mode === 'read-only'
        ? `the log takes no records; reads go on${place.isShared ? ' when they are confirmed' : ''}`
        : 'the log did not take a group; what it holds is read again';
    const { dataDir, why } = place;
    // Space on the device tells nothing where it is the process that has run out of something.
    const space = isOfProcess(why) ? {} : { free_bytes: freeBytes(dataDir) };
    return [line('warn', msg, { mode, ...fields, why, ...space })];
  }

  private clock(offset: number): LogLine | undefined {
    if (Math.abs(offset - this.offsetTold) < OFFSET_MS) return undefined;
    this.offsetTold = offset;
    const fields = { clock_offset_ms: offset };
    if (Math.abs(offset) < OFFSET_MS) {
      return line('info', 'coordinator time is that of the wall clock again', fields);
    }
    const where = offset > 0 ? 'ahead of' : 'behind';
    return line('warn', `coordinator time is ${where} the wall clock`, fields);
  }

  private stuck(now: number): LogLine | undefined {
    const isStuck = now >= this.stepAt + STUCK_MS;
    if (isStuck === this.isStuck) return undefined;
    this.isStuck = isStuck;
    if (!isStuck) return line('info', 'removing forgotten history goes on', {});
    const msg = 'removing forgotten history hangs; until it goes on nothing more is forgotten';
    return line('warn', msg, { since_ms: now - this.stepAt });
  }

  private calm(now: number): LogLine | undefined {
    if (this.losses === 0 || this.mode !== 'serving' || now < this.lossAt + CALM_MS) {
      return undefined;
    }
    const fields = { mode: this.mode, losses: this.losses };
    this.losses = 0;
    this.told.clear();
    return line('info', 'the log takes records again', fields);
  }
}

/** A time in which something happened often, until it happened less often for CALM_MS. */
class Spell {
  /** Since the spell began. */
  count = 0;
  private readonly often: number;
  private isOn = false;
  private inWindow = 0;
  private windowEnd = 0;

  constructor(often: number) {
    this.often = often;
  }

  add(happened: number, now: number): 'begun' | 'over' | undefined {
    let isOver = false;
    if (now >= this.windowEnd) {
      isOver = this.isOn && this.inWindow < this.often;
      this.inWindow = 0;
      this.windowEnd = now + CALM_MS;
    }
    this.inWindow += happened;
    if (isOver) {
      this.isOn = false;
      return 'over';
    }
    if (this.isOn) {
      this.count += happened;
      return undefined;
    }
    if (this.inWindow < this.often) return undefined;
    this.isOn = true;
    this.count = this.inWindow;
    return 'begun';
  }
}

/** Descriptors or memory: the limit is the process's, or the machine's, and not the device's. */
const isOfProcess = (why = ''): boolean => /\((EMFILE|ENFILE|ENOMEM|EAGAIN)\)/.test(why);

function freeBytes(dataDir: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    return bavail * bsize;
  } catch {
    return undefined; // The line that it is for matters more.
  }
}
