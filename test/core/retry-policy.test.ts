// What follows a failed attempt, as a table: the numbers are those of the rulings, worked out by
// hand.

import { expect } from 'chai';
import { countFailure, retryAt } from '../../src/core/retry-policy.ts';
import type { FailureKind, RetryPolicy } from '../../src/model/records.ts';

const AT = 1_700_000_000_000;
const YEARS_100_MS = 3_153_600_000_000;
const NO_COUNTS = { failures: 0, released: 0, releasedInRow: 0 };

type Case = readonly [
  what: string,
  policy: Partial<RetryPolicy>,
  kinds: readonly FailureKind[],
  waitMs: number | undefined,
];

const times = (count: number, kind: FailureKind): FailureKind[] => Array(count).fill(kind);

/** The kinds are those of all attempts so far; what is said is what follows the last one. */
const CASES: readonly Case[] = [
  ['the first failure waits once', {}, ['error'], 3_000],
  ['the second one longer', {}, times(2, 'error'), 6_000],
  ['the wait is whole, rounded down', { backoffFactor: 1.3334 }, times(2, 'error'), 4_000],
  ['up to the policy’s bound', { backoffMaxMs: 5_000 }, times(2, 'error'), 5_000],
  ['a first wait beyond that bound too', { backoffMaxMs: 2_000 }, ['error'], 2_000],
  ['and to 100 years', { backoffFactor: 100, maxRetries: 90 }, times(50, 'error'), YEARS_100_MS],
  [
    'whatever the policy’s bound',
    { backoffFactor: 100, maxRetries: 90, backoffMaxMs: YEARS_100_MS + 1 },
    times(50, 'error'),
    YEARS_100_MS,
  ],
  ['a factor that has grown beyond all numbers', { backoffMs: 0 }, times(5, 'error'), 0],
  ['the last retry', {}, times(5, 'error'), 48_000],
  ['no retry is left', {}, times(6, 'error'), undefined],
  ['permanent is never followed', {}, ['permanent'], undefined],
  ['a permanent one counts as a failure', {}, ['permanent', 'error'], 6_000],
  ['released waits a second at most', {}, ['released'], 1_000],
  ['and not longer than a failed one', { backoffMs: 700 }, ['released'], 700],
  ['released is not charged', { maxRetries: 0 }, times(100, 'released'), 1_000],
  ['but for the 101st in a row', { maxRetries: 0 }, times(101, 'released'), undefined],
  ['and does not lengthen the backoff', {}, ['released', 'released', 'error'], 3_000],
  ['a failure between begins a new row', { maxRetries: 1 }, row(60, 60), 1_000],
  ['which has its own bound', { maxRetries: 1 }, row(60, 101), undefined],
];

function row(before: number, after: number): FailureKind[] {
  return [...times(before, 'released'), 'error', ...times(after, 'released')];
}

describe('retry policy: what follows a failed attempt', () => {
  for (const [what, more, kinds, waitMs] of CASES) {
    it(what, () => {
      const policy = { maxRetries: 5, backoffMs: 3_000, backoffFactor: 2, ...more };
      let counts = NO_COUNTS;
      for (const kind of kinds) counts = countFailure(counts, kind);
      const last = kinds.at(-1) as FailureKind;
      const wanted = waitMs === undefined ? undefined : AT + waitMs;
      expect(retryAt(policy, last, kinds.length, counts, AT)).to.equal(wanted);
    });
  }

  it('released is WAITING again, also when expiries have used up the budget', () => {
    const policy = { maxRetries: 0, backoffMs: 3_000, backoffFactor: 2 };
    const released = countFailure(NO_COUNTS, 'released');
    expect(retryAt(policy, 'released', 4, released, AT)).to.equal(AT + 1_000);
    const failed = countFailure(released, 'error');
    expect(retryAt(policy, 'error', 5, failed, AT)).to.equal(undefined);
  });
});
