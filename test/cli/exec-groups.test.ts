// The groups of commands that `work` runs: a signal of the terminal finds them from their first
// moment on.

import type { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import { startGroup } from '../../src/cli/exec-groups.ts';

const SIGNALS = ['SIGTSTP', 'SIGCONT'] as const;
const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));
const before = listeners();
const more = before.map((count) => count + 1);
const stillMine = async (): Promise<boolean> => true;

describe('the groups of running commands', () => {
  it('are suspended with this process from before a command runs until it has ended', () => {
    const seen: number[][] = [];
    const start = (): ChildProcess => {
      seen.push(listeners());
      return {} as ChildProcess;
    };
    const first = startGroup(start, stillMine);
    const second = startGroup(start, stillMine);
    expect(seen).to.deep.equal([more, more]);
    first.forget();
    expect(listeners()).to.deep.equal(more);
    second.forget();
    expect(listeners()).to.deep.equal(before);
  });

  it('are not listened for when a command cannot be started', () => {
    const start = (): ChildProcess => {
      throw new Error('no shell');
    };
    expect(() => startGroup(start, stillMine)).to.throw('no shell');
    expect(listeners()).to.deep.equal(before);
  });
});
