// What an operator is told of without asking: each trouble once, its end once, and nothing while
// all is well.

import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { BURST, CALM_MS, Notices, type Sight, STUCK_MS } from '../../actors/coordinator/notices.ts';
import type { LogLine } from '../../actors/shared/control.ts';
import type { Mode } from '../../src/loop/turn.ts';

class Watch {
  private readonly notices = new Notices();
  private sight: Sight = {
    now: 0,
    clockOffsetMs: 0,
    refused: 0,
    expirations: 0,
    removing: undefined,
  };

  constructor() {
    expect(this.after(0)).deep.equal([]);
  }

  /** What is told at the ticks of the next so many ms, as level and words. */
  after(ms: number, more: Partial<Sight> = {}): string[] {
    const end = this.sight.now + ms;
    const said: string[] = [];
    for (let now = this.sight.now; now <= end; now += 50) {
      this.sight = { ...this.sight, ...more, now };
      said.push(...this.notices.look(this.sight).map(({ level, msg }) => `${level} ${msg}`));
    }
    return said;
  }

  enter(mode: Mode): string[] {
    const lines = this.notices.entered(
      mode,
      this.sight.now,
      { last_sequence: 7 },
      { dataDir: tmpdir() },
    );
    for (const one of lines) {
      expect(one).include({ last_sequence: 7, mode });
      if (one.level === 'warn') expect(one['free_bytes']).a('number').above(0);
    }
    return lines.map(({ level, msg }) => `${level} ${msg}`);
  }
}

describe('notices', () => {
  it('say nothing while all is well', () => {
    const watch = new Watch();
    expect(watch.enter('serving')).deep.equal(['info coordinator is serving']);
    const quiet = { clockOffsetMs: 999, expirations: BURST - 1 };
    expect(watch.after(5 * CALM_MS, quiet)).deep.equal([]);
  });

  it('tell once that the clocks part, and that they are together again', () => {
    const watch = new Watch();
    const ahead = ['warn coordinator time is ahead of the wall clock'];
    expect(watch.after(60_000, { clockOffsetMs: 1_000 })).deep.equal(ahead);
    expect(watch.after(60_000, { clockOffsetMs: 1_900 })).deep.equal([]);
    expect(watch.after(60_000, { clockOffsetMs: -5_000 })).deep.equal([
      'warn coordinator time is behind the wall clock',
    ]);
    expect(watch.after(60_000, { clockOffsetMs: 20 })).deep.equal([
      'info coordinator time is that of the wall clock again',
    ]);
  });

  it('tell once that requests are refused, however many, and when that is over', () => {
    const watch = new Watch();
    const full = ['warn the mailbox is full: requests are refused'];
    expect(watch.after(100, { refused: 5 })).deep.equal(full);
    for (let i = 0; i < 5; i += 1) {
      expect(watch.after(CALM_MS / 2, { refused: 1_000 * i + 10 })).deep.equal([]);
    }
    expect(watch.after(3 * CALM_MS)).deep.equal(['info the mailbox has room again']);
    // The count wraps; a first look has nothing to compare with.
    expect(watch.after(100, { refused: 2 ** 32 - 1 })).deep.equal(full);
  });

  it('tell of a burst of expiries as soon as it is one', () => {
    const watch = new Watch();
    expect(watch.after(1_000, { expirations: BURST - 1 })).deep.equal([]);
    expect(watch.after(1_000, { expirations: BURST })).deep.equal(['warn many leases run out']);
    expect(watch.after(1_000, { expirations: 50 * BURST })).deep.equal([]);
    expect(watch.after(3 * CALM_MS)).deep.equal(['info few leases run out any more']);
  });

  it('tell once that the removal of history hangs, and that it goes on', () => {
    const watch = new Watch();
    for (let step = 0; step < 3; step += 1) {
      expect(watch.after(STUCK_MS - 50, { removing: step })).deep.equal([]);
    }
    // It does not begin anew where it hangs, however long.
    const hangs =
      'warn removing forgotten history hangs; until it goes on nothing more is forgotten';
    expect(watch.after(3 * STUCK_MS)).deep.equal([hangs]);
    const goesOn = ['info removing forgotten history goes on'];
    expect(watch.after(STUCK_MS - 100, { removing: 3 })).deep.equal(goesOn);
    // No pass for long is no hang, nor is a pass that ends.
    expect(watch.after(3 * STUCK_MS, { removing: undefined })).deep.equal([]);
    expect(watch.after(STUCK_MS, { removing: 3 })).deep.equal([hangs]);
    expect(watch.after(50, { removing: undefined })).deep.equal(goesOn);
  });

  it('tell of no hang at the first look, whatever runs and however late the clock is', () => {
    const sight = { clockOffsetMs: 0, refused: 0, expirations: 0, removing: 0 };
    const notices = new Notices();
    const told = [0, STUCK_MS - 50, STUCK_MS].map((ms) =>
      notices.look({ ...sight, now: 10 * STUCK_MS + ms }),
    );
    expect(told.map(({ length }) => length)).to.deep.equal([0, 0, 1]);
  });

  it('tell what a group was refused for, and of space only where it may be that', () => {
    const refused = (why: string) => {
      const fields = { last_sequence: 7 };
      const lines = new Notices().entered('read-only', 0, fields, { dataDir: tmpdir(), why });
      return lines[0] as LogLine;
    };
    expect(refused('the disk is full (ENOSPC)')).include.keys('free_bytes', 'why');
    for (const why of ['this process may open no more files (EMFILE)', 'no memory (ENOMEM)']) {
      expect(refused(why)).include({ why }).and.not.include.keys('free_bytes');
    }
  });

  it('promise no reads where several machines may write the log', () => {
    const place = { dataDir: tmpdir(), isShared: true };
    const [told] = new Notices().entered('read-only', 0, {}, place);
    expect(told?.msg).equal('the log takes no records; reads go on when they are confirmed');
  });

  it('tell once that the log takes no records, over all probes, and when it does', () => {
    const watch = new Watch();
    const group = 'warn the log did not take a group; what it holds is read again';
    expect(watch.enter('serving')).length(1);
    expect(watch.enter('rebuilding')).deep.equal([group]);
    expect(watch.enter('read-only')).deep.equal(['warn the log takes no records; reads go on']);
    for (let probe = 0; probe < 20; probe += 1) {
      expect(watch.after(5_000)).deep.equal([]);
      expect(watch.enter('read-only')).deep.equal([]);
    }
    // A small record is taken now and then.
    for (let flap = 0; flap < 5; flap += 1) {
      expect(watch.enter('serving')).deep.equal([]);
      expect(watch.after(CALM_MS / 2)).deep.equal([]);
      expect(watch.enter('rebuilding')).deep.equal([]);
    }
    expect(watch.enter('serving')).deep.equal([]);
    expect(watch.after(3 * CALM_MS)).deep.equal(['info the log takes records again']);
    expect(watch.enter('rebuilding')).deep.equal([group]);
  });
});
