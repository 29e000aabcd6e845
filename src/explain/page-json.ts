// Owns the JSON of an explanation: the facts under their wire names, ids as users write them. An
// absent fact is an absent field; only a question that was answered "nobody" is null.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { ExplainedAttempt, ExplainedNow, Explanation, Overlap } from './explanation.ts';

/** @returns one JSON object without a line feed. */
export function explanationJson(given: Explanation): string {
  return JSON.stringify({
    task_id: formatTaskId(given.taskId),
    queue: given.queue,
    state: given.state,
    summary: given.summary,
    created_at: given.createdAt,
    max_retries: given.maxRetries,
    execution_window_ms: given.executionWindowMs,
    origin_task_id: task(given.originTaskId),
    redriven_as: task(given.redrivenAs),
    records: given.records,
    records_left_out: given.recordsLeftOut === 0 ? undefined : given.recordsLeftOut,
    attempts: given.attempts.map(attemptJson),
    starts: given.starts.map((start) => ({
      seq: start.seq,
      at: start.at,
      last_alive_at: start.lastAliveAt,
      clock_offset_ms: start.clockOffsetMs,
    })),
    statements: given.statements,
    overlaps: given.overlaps.map(overlapJson),
    now: nowJson(given.now),
  });
}

const task = (id: number | undefined): string | undefined =>
  id === undefined ? undefined : formatTaskId(id);

function attemptJson(attempt: ExplainedAttempt): Record<string, unknown> {
  return {
    attempt: attempt.attempt,
    lease_id: formatLeaseId(attempt.leaseId),
    fencing_token: attempt.leaseId,
    worker_id: attempt.workerId,
    eligible_at: attempt.eligibleAt,
    granted_at: attempt.grantedAt,
    lease_expiry: attempt.leaseExpiry,
    execution_deadline: attempt.executionDeadline,
    reached_window: attempt.reachedWindow,
    extensions: attempt.extensions,
    last_heartbeat_at: attempt.lastHeartbeat?.at,
    last_heartbeat_record: attempt.lastHeartbeat?.record,
    ended: attempt.ended,
    ended_at: attempt.endedAt,
    end_record: attempt.endRecord,
    reason: attempt.reason,
    kind: attempt.kind,
    retry_at: attempt.retryAt,
    report: attempt.report,
    evidence: attempt.evidence,
  };
}

function overlapJson(overlap: Overlap): Record<string, unknown> {
  return {
    leases: overlap.leases.map(formatLeaseId),
    from: overlap.from,
    to: overlap.to,
    certainty: overlap.certainty,
    records: overlap.records,
  };
}

function nowJson(now: ExplainedNow): Record<string, unknown> {
  const waiting = now.state === 'WAITING' && now.advisory;
  return {
    state: now.state,
    at: now.at,
    eligible_at: now.eligibleAt,
    ahead: now.aheadIsMore ? { more_than: now.ahead } : now.ahead,
    queue_last_asked_at: waiting ? (now.queueLastAskedAt ?? null) : undefined,
    queue_parked: waiting ? (now.queueParked ?? 0) : undefined,
    lease_id: now.leaseId === undefined ? undefined : formatLeaseId(now.leaseId),
    lease_expiry: now.leaseExpiry,
    execution_deadline: now.executionDeadline,
    attempts_left: now.attemptsLeft,
    facts: now.facts,
    next: now.next,
  };
}
