// Holds the verdicts to the worker: what a slow machine may have done is played once more, and what
// it cannot have done is not.

import { expect } from 'chai';
import type { FaultName } from '../../src/rehearse/faults.ts';
import { isDoubtful } from '../../src/rehearse/play-scenario.ts';
import { isMachineBusy } from '../../src/rehearse/slow-machine.ts';

const LEASE_MS = 2_000;

describe('a verdict of a rehearsal', () => {
  const doubtful = (
    stalledMs: number,
    fault: FaultName | undefined,
    trouble?: string,
    isBusy = false,
  ): boolean =>
    isDoubtful(
      {
        judgement: {
          verdict: fault === undefined ? 'kept' : 'broken',
          faults: fault === undefined ? [] : [{ name: fault, evidence: [] }],
          doubled: [],
          atShutdown: [],
          endedByThemselves: [],
          noticedAfterMs: undefined,
        },
        noTaskTaken: undefined,
        stalledMs,
        ...(trouble === undefined ? {} : { trouble }),
      },
      LEASE_MS,
      isBusy,
    );

  it('that rests on time is doubted when the machine was slow', () => {
    expect(doubtful(700, 'no-report')).to.equal(true);
    expect(doubtful(100, 'no-report')).to.equal(false);
    expect(doubtful(700, undefined, 'nothing came to the point')).to.equal(true);
  });

  it('that rests on time is doubted, too, when many processes wanted to run', () => {
    expect(doubtful(100, 'no-heartbeat', undefined, true)).to.equal(true);
    expect(doubtful(100, 'second-report', undefined, true)).to.equal(false);
    expect([isMachineBusy(3.9, 2), isMachineBusy(4.1, 2)]).to.deep.equal([false, true]);
  });

  it('that rests on order alone, or finds nothing, is believed', () => {
    expect(doubtful(700, 'second-report')).to.equal(false);
    expect(doubtful(700, undefined)).to.equal(false);
  });
});
