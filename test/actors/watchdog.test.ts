// What the supervisor does while a commit holds up the coordinator's thread.

import { expect } from 'chai';
import { Progress } from '../../actors/shared/progress.ts';
import { Watchdog } from '../../actors/supervisor/watchdog.ts';

function setUp() {
  const progress = new Progress(Progress.share());
  progress.phase = 'ready';
  const told: string[] = [];
  let now = 50_000;
  const watchdog = new Watchdog({
    progress,
    monotonicMs: () => now,
    stalled: (isStalled) => void told.push(isStalled ? 'stalled' : 'over'),
    hangs: () => void told.push('hangs'),
  });
  const lookAt = (ms: number) => {
    now = ms;
    watchdog.look();
    return told.splice(0);
  };
  return { progress, lookAt };
}

describe('the watch over commits', () => {
  it('sees nothing in commits that end, however many there are', () => {
    const { progress, lookAt } = setUp();
    for (let ms = 50_000; ms < 200_000; ms += 9_000) {
      progress.committingSince = ms;
      expect(lookAt(ms + 8_999)).to.deep.equal([]);
    }
    progress.committingSince = 0;
    expect(lookAt(1_000_000)).to.deep.equal([]);
  });

  it('has requests refused while one takes too long, and no longer', () => {
    const { progress, lookAt } = setUp();
    progress.committingSince = 50_000;
    expect(lookAt(59_999)).to.deep.equal([]);
    expect([progress.refusal(), progress.phase]).to.deep.equal([undefined, 'ready']);
    expect(lookAt(60_000)).to.deep.equal(['stalled']);
    expect([progress.refusal(), progress.phase]).to.deep.equal(['log_unavailable', 'refusing']);
    expect(lookAt(69_999)).to.deep.equal([]);
    progress.committingSince = 0;
    expect(lookAt(69_999)).to.deep.equal(['over']);
    expect([progress.refusal(), progress.phase]).to.deep.equal([undefined, 'ready']);
  });

  it('gives up on one that takes twice as long', () => {
    const { progress, lookAt } = setUp();
    progress.committingSince = 50_000;
    expect(lookAt(69_999)).to.deep.equal(['stalled']);
    expect(lookAt(70_000)).to.deep.equal(['hangs']);
  });
});
