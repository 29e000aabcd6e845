// Owns what follows a failed attempt: another attempt at a certain time, or FAILED. The decision
// and the replay call the same function, so a replayed TaskFailed is compared with the policy and
// not simply trusted. An expired lease is no failure: its task may be leased again at once, until
// core/lease-manager.ts counts too many expiries in a row and makes the task DEAD.

import { DURATION_MAX_MS } from '../model/knobs.ts';
import { FREE_RELEASES_IN_ROW } from '../model/limits.ts';
import type { FailureKind, RetryPolicy } from '../model/records.ts';
import type { TaskHistory } from './history.ts';

const RELEASED_WAIT_MAX_MS = 1_000;

type Counts = Pick<TaskHistory, 'failures' | 'released' | 'releasedInRow'>;

/** @returns a history's counts after one more failed attempt of that kind. */
export function countFailure(before: Counts, kind: FailureKind): Counts {
  if (kind !== 'released') {
    return { failures: before.failures + 1, released: before.released, releasedInRow: 0 };
  }
  const releasedInRow = before.releasedInRow + 1;
  // The worker gave the task back unharmed, so the attempt says nothing against the task (R13a).
  const free = releasedInRow <= FREE_RELEASES_IN_ROW ? 1 : 0;
  return { failures: before.failures, released: before.released + free, releasedInRow };
}

/**
 * What follows the failure of an attempt (R13, R13a).
 * @param after the counts including this failure
 * @returns the time from which the task may be leased again; undefined when the task is FAILED.
 */
export function retryAt(
  policy: RetryPolicy,
  kind: FailureKind,
  attempt: number,
  after: Counts,
  at: number,
): number | undefined {
  if (kind === 'permanent') return undefined;
  // An uncharged release leaves the budget as it was, even a budget that expiries have used up.
  const isFree = kind === 'released' && after.releasedInRow <= FREE_RELEASES_IN_ROW;
  // By the number of the attempt, not of the failures: an attempt that was lost to an expiry uses
  // up a retry, too (R13).
  if (!isFree && attempt - after.released > policy.maxRetries) return undefined;
  if (kind === 'released') return at + Math.min(policy.backoffMs, RELEASED_WAIT_MAX_MS);
  // By the number of the failures: an expiry has no backoff, so it makes none longer (R14).
  const grown = Math.floor(policy.backoffMs * policy.backoffFactor ** (after.failures - 1));
  // 0 × ∞ is not a number: a backoff of 0 stays 0 however often the factor was applied.
  const wait = policy.backoffMs === 0 ? 0 : grown;
  return at + Math.min(wait, policy.backoffMaxMs ?? DURATION_MAX_MS, DURATION_MAX_MS);
}
