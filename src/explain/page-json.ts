// Owns the JSON of an explanation: the facts under their wire names, with ids as users write them.
// A fact that is absent is an absent field. null stands only for a question whose answer is
// "nobody".

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type {
  ExplainedAttempt,
  ExplainedNow,
  Explanation,
  Overlap,
  Statement,
  Wait,
} from './explanation.ts';

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
    records_left_out: unlessZero(given.recordsLeftOut),
    attempts: given.attempts.map(attemptJson),
    budget: budgetJson(given),
    starts: given.starts.map((start) => ({
      seq: start.seq,
      at: start.at,
      last_alive_at: start.lastAliveAt,
      restored_after: start.restored?.after,
      clock_offset_ms: start.clockOffsetMs,
    })),
    starts_left_out: unlessZero(given.startsLeftOut),
    statements: given.statements.map(statementJson),
    overlaps: given.overlaps.map(overlapJson),
    now: nowJson(given.now),
  });
}

const task = (id: number | undefined): string | undefined =>
  id === undefined ? undefined : formatTaskId(id);

const unlessZero = (count: number): number | undefined => (count === 0 ? undefined : count);

const statementJson = ({ topic, text, records, record }: Statement): Record<string, unknown> => ({
  topic,
  text,
  records,
  record,
});

function attemptJson(attempt: ExplainedAttempt): Record<string, unknown> {
  return {
    attempt: attempt.attempt,
    lease_id: formatLeaseId(attempt.leaseId),
    fencing_token: attempt.leaseId,
    worker_id: attempt.workerId,
    waiting_since: attempt.waitingSince,
    waiting_record: attempt.waitingRecord,
    eligible_at: attempt.eligibleAt,
    wait: waitJson(attempt.wait),
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

function waitJson(wait: Wait | undefined): Record<string, unknown> | undefined {
  if (wait === undefined) return undefined;
  const { durationMs, downMs, starts, between } = wait;
  const freed = between?.freed;
  return {
    duration_ms: durationMs,
    down_at_most_ms: downMs,
    starts,
    grants_of_queue: between?.grants,
    deaths_of_queue: between?.deaths,
    grants_elsewhere: between?.grantsElsewhere,
    freed:
      freed === undefined
        ? undefined
        : {
            lease_id: formatLeaseId(freed.leaseId),
            task_id: formatTaskId(freed.taskId),
            at: freed.at,
            record: freed.record,
          },
  };
}

const budgetJson = ({ budget }: Explanation): Record<string, unknown> => ({
  allowed: budget.allowed,
  charged: budget.charged,
  free: budget.free,
  left: budget.left,
  expiries_in_row: budget.expiriesInRow,
  poison_threshold: budget.poisonThreshold,
});

function overlapJson(overlap: Overlap): Record<string, unknown> {
  return {
    leases: overlap.leases.map(formatLeaseId),
    tasks: overlap.tasks.map(formatTaskId),
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
    askers: waiting ? now.askers?.map(askerJson) : undefined,
    lease_id: now.leaseId === undefined ? undefined : formatLeaseId(now.leaseId),
    lease_expiry: now.leaseExpiry,
    execution_deadline: now.executionDeadline,
    attempts_left: now.attemptsLeft,
    facts: now.facts.map(({ text }) => text),
    fact_records: now.facts.map(({ records }) => records),
    next: now.next.text,
    next_records: now.next.records,
  };
}

const askerJson = (
  asker: NonNullable<ExplainedNow['askers']>[number],
): Record<string, unknown> => ({
  worker_id: asker.workerId,
  capacity: asker.capacity,
  held: asker.held,
  leases: asker.leases.map((lease) => ({
    lease_id: formatLeaseId(lease.leaseId),
    task_id: formatTaskId(lease.taskId),
    lease_expiry: lease.leaseExpiry,
  })),
});
