// Where the lines of a log tell another day, and what is said of an id that is none.

import { expect } from 'chai';
import { leaseIdOf, taskIdOf } from '../../src/cli/id-arguments.ts';
import { Days } from '../../src/cli/words.ts';

const NOON = Date.UTC(2026, 6, 30, 12);
const DAY_MS = 86_400_000;

describe('the days of a log', () => {
  const told = (isFirstTold: boolean, ...days: number[]): (string | undefined)[] => {
    const said = new Days(isFirstTold);
    return days.map((day) => said.before({ at: NOON + day * DAY_MS }));
  };

  it('are told before the first record, and wherever the day changes', () => {
    const first = '2026-07-30';
    const next = '2026-07-31';
    expect(told(true, 0, 0, 1, 1)).to.deep.equal([first, undefined, next, undefined]);
  });

  it('are told in a pipe only where the day changes: a record a line on one day', () => {
    expect(told(false, 0, 0, 1)).to.deep.equal([undefined, undefined, '2026-07-31']);
  });
});

describe('an id that is none', () => {
  const said = (read: (given: string) => string, given: string): string => {
    try {
      return read(given);
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('is told with the one that is meant', () => {
    for (const given of ['17', 't17']) {
      expect(said(taskIdOf, given)).to.equal(`"${given}" is no task id; did you mean T17?`);
    }
    expect(said(leaseIdOf, 'l18')).to.equal('"l18" is no lease id; did you mean L18?');
    expect(said(taskIdOf, 'T0')).to.include('T and a number');
    expect(said(taskIdOf, 'x')).to.include('T and a number');
  });

  it('of the other kind is told as that, with the way to the right one', () => {
    expect(said(taskIdOf, 'L18')).to.match(/is a lease.*`leasehold log --from 18 --limit 1`/);
    expect(said(leaseIdOf, 'T2')).to.match(/is a task.*`leasehold task T2`/);
  });
});
