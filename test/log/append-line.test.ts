// The line in which commits stand: one after another, none after a failure until the log was opened
// anew, none at all after a refusal.

import { expect } from 'chai';
import { AppendLine } from '../../src/log/append-line.ts';
import type { AppendResult } from '../../src/log/log.ts';

/** Commits that end when they are told to. */
function setUp() {
  const line = new AppendLine();
  const begun: number[] = [];
  const ends: ((result: AppendResult | Error) => void)[] = [];
  const results: (AppendResult | 'thrown' | undefined)[] = [];
  const run = (): void => {
    const place = results.length;
    results.push(undefined);
    const running = line.run(() => {
      begun.push(place);
      return new Promise((resolve, reject) => {
        ends[place] = (result) => (result instanceof Error ? reject(result) : resolve(result));
      });
    });
    Promise.resolve(running)
      .then((result) => (results[place] = result))
      .catch(() => {
        results[place] = 'thrown';
      });
  };
  const end = async (place: number, result: AppendResult | Error): Promise<void> => {
    ends[place]?.(result);
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
  };
  return { line, begun, results, run, end };
}

describe('the line of appends', () => {
  it('runs one commit at a time, the first at once', async () => {
    const { begun, results, run, end } = setUp();
    for (let n = 0; n < 3; n += 1) run();
    expect(begun).to.deep.equal([0]);
    await end(0, 'durable');
    expect(begun).to.deep.equal([0, 1]);
    await end(1, 'durable');
    await end(2, 'durable');
    expect(results).to.deep.equal(['durable', 'durable', 'durable']);
  });

  it('says at once what a commit says at once, and keeps its order all the same', async () => {
    const line = new AppendLine();
    expect(line.run(() => 'durable')).to.equal('durable');
    let settle: (result: AppendResult) => void = () => {};
    const first = line.run(
      () =>
        new Promise((resolve) => {
          settle = resolve;
        }),
    );
    const told: string[] = [];
    const second = line.run(() => {
      told.push('second');
      return 'failed';
    });
    expect(told).to.deep.equal([]);
    settle('durable');
    expect([await first, await second]).to.deep.equal(['durable', 'failed']);
    expect(line.run(() => 'durable')).to.equal('failed');
    line.reopened();
    const bug = (): AppendResult => {
      throw new Error('a bug');
    };
    expect(() => line.run(bug)).to.throw('a bug');
    expect(line.run(() => 'durable')).to.equal('failed');
    line.reopened();
    expect(line.run(() => 'fenced')).to.equal('fenced');
    line.reopened();
    expect(line.run(() => 'durable')).to.equal('fenced');
  });

  for (const [what, first] of [
    ['a failure', 'failed'],
    ['an error', new Error('a bug')],
  ] as const) {
    it(`takes nothing after ${what} until it is opened anew`, async () => {
      const { line, begun, results, run, end } = setUp();
      run();
      run();
      await end(0, first);
      run();
      await end(2, 'durable');
      expect(begun).to.deep.equal([0]);
      expect(results.slice(1)).to.deep.equal(['failed', 'failed']);
      expect(line.fenced).to.equal(false);
      line.reopened();
      run();
      await end(3, 'durable');
      expect(results[3]).to.equal('durable');
    });
  }

  it('takes nothing at all after a refusal', async () => {
    const { line, begun, results, run, end } = setUp();
    run();
    run();
    await end(0, 'fenced');
    line.reopened();
    run();
    await end(2, 'durable');
    expect(line.fenced).to.equal(true);
    expect(begun).to.deep.equal([0]);
    expect(results).to.deep.equal(['fenced', 'fenced', 'fenced']);
  });

  it('is idle when the last commit has ended, also one that came meanwhile', async () => {
    const { line, run, end } = setUp();
    let isIdle = false;
    run();
    const idle = line.idle().finally(() => {
      isIdle = true;
    });
    run();
    await end(0, 'durable');
    expect(isIdle).to.equal(false);
    await end(1, new Error('a bug'));
    await idle;
    expect(isIdle).to.equal(true);
  });
});
