// Owns the sentences about a task that is leased now: until when, how far heartbeats can extend
// the lease, and which state follows each way in which the attempt can end.

import { DURATION_MAX } from '../model/limits.ts';
import type { RetryPolicy } from '../model/records.ts';
import type { ExplainedAttempt } from './explanation.ts';
import { durationAtLeastText, durationText, leaseText, recordsOf } from './names.ts';
import type { Situation, Told } from './situation.ts';

export function leasedNow(situation: Situation): Told {
  const { attempts, standing, tell } = situation;
  const last = attempts.at(-1);
  const expiry = standing.leaseExpiry ?? standing.now;
  const cap = standing.executionDeadline ?? expiry;
  const holder = last === undefined ? 'a lease' : leaseText(last);
  const left = durationText(Math.max(0, expiry - standing.now));
  const records = recordsOf(last?.leaseId, last?.lastHeartbeat?.record);
  const atCap = expiry >= cap;
  const room = atCap
    ? 'It is at the execution window: no heartbeat moves that time.'
    : `Each heartbeat moves that time, to ${tell.at(cap)} at the latest (execution window).`;
  const text =
    `It is LEASED: ${holder} (attempt ${last?.attempt ?? '?'}) is valid until ` +
    `${tell.at(expiry)}, for ${left}. ${room}`;
  const moved = atCap ? '' : ', unless a heartbeat has moved that time';
  const next =
    `Before ${tell.at(expiry)}, a complete under that lease makes the task COMPLETED, and a fail ` +
    `of kind error makes it ${afterFailure(situation)}. Else the lease runs out by itself at ` +
    `${tell.at(expiry)}${moved}, and the task is WAITING and eligible again at once.`;
  return { facts: [{ text, records }], next: { text: next, records } };
}

function afterFailure({ created, attempts, budget }: Situation): string {
  if (budget.left === 0) return 'FAILED, for no attempt is left';
  const pauseMs = backoffAfter(created.retryPolicy, attempts);
  if (pauseMs === 0) return 'WAITING and eligible again at once';
  return `WAITING, to be leased again ${durationAtLeastText(pauseMs)} later at the earliest`;
}

/** The pause that one more failure is followed by; a failure said to be permanent has none. */
function backoffAfter(policy: RetryPolicy, attempts: readonly ExplainedAttempt[]): number {
  const { backoffMs, backoffFactor, backoffMaxMs = Number.POSITIVE_INFINITY } = policy;
  const failures = attempts.filter(({ ended }) => ended === 'failed').length;
  // 0 × ∞ is not a number: a backoff of 0 stays 0 however often the factor was applied.
  if (backoffMs === 0) return 0;
  return Math.min(Math.floor(backoffMs * backoffFactor ** failures), backoffMaxMs, DURATION_MAX);
}
