// Owns the JSON of one task, of a page of tasks, and of a task's standing for explain.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { Standing, TaskList, TaskShown, TaskSummary } from '../model/response.ts';
import { optionalMember } from './format-fields.ts';
import { bytesMember } from './payload-bytes.ts';

const taskIdOf = (id: number | undefined): string | undefined =>
  id === undefined ? undefined : formatTaskId(id);

/** @returns the members without the closing brace. */
function summary(task: TaskSummary): string {
  return (
    `{"task_id":"T${task.taskId}","queue":"${task.queue}","state":"${task.state}",` +
    `"attempt":${task.attempt},"max_retries":${task.maxRetries},` +
    `"backoff_ms":${task.backoffMs},"execution_window_ms":${task.executionWindowMs}` +
    optionalMember('request_id', task.requestId) +
    optionalMember('origin_task_id', taskIdOf(task.originTaskId)) +
    optionalMember('redriven_as', taskIdOf(task.redrivenAs)) +
    `,"created_at":${task.createdAt}` +
    optionalMember('eligible_at', task.eligibleAt) +
    lease(task) +
    optionalMember('ended_at', task.endedAt) +
    `,"expirations":${task.expirations},"failures":${task.failures}` +
    optionalMember('retry_at', task.retryAt) +
    optionalMember('last_failure_reason', task.lastFailureReason) +
    optionalMember('last_failure_kind', task.lastFailureKind) +
    optionalMember('metadata', task.metadata) +
    `,"records":${task.records}`
  );
}

function lease({ lease: held }: TaskSummary): string {
  if (held === undefined) return '';
  return (
    `,"lease":{"lease_id":"L${held.leaseId}","worker_id":${JSON.stringify(held.workerId)},` +
    `"granted_at":${held.grantedAt},"lease_expiry":${held.leaseExpiry},` +
    `"execution_deadline":${held.executionDeadline}}`
  );
}

export function formatTask({ task, payload, result, base64 }: TaskShown): string {
  const ended = result === undefined ? '' : `,${bytesMember('result', result, base64)}`;
  return `${summary(task)}${ended},${bytesMember('payload', payload, base64)}}`;
}

export function formatTasks({ tasks, next }: TaskList): string {
  const shown = tasks.map((task) => `${summary(task)}}`).join(',');
  return `{"tasks":[${shown}],"next":${next === null ? 'null' : `"T${next}"`}}`;
}

export function formatStanding(standing: Standing): string {
  return JSON.stringify({
    task_id: formatTaskId(standing.taskId),
    state: standing.state,
    queue: standing.queue,
    now: standing.now,
    as_of: standing.asOf,
    last_record: standing.lastRecord,
    last_extension: standing.lastExtension,
    starts: standing.starts,
    starts_left_out: standing.startsLeftOut,
    eligible_at: standing.eligibleAt,
    lease_id: standing.leaseId === undefined ? undefined : formatLeaseId(standing.leaseId),
    lease_expiry: standing.leaseExpiry,
    execution_deadline: standing.executionDeadline,
    ahead: standing.ahead,
    ahead_is_more: standing.aheadIsMore,
    queue_last_asked_at: standing.queueLastAskedAt,
    queue_parked: standing.queueParked,
    queues_asked_for: standing.queuesAskedFor,
    askers: standing.askers,
    poison_threshold: standing.poisonThreshold,
    relatives: standing.relatives,
    poison_at_next_grant: standing.poisonAtNextGrant,
    redriven_as: taskIdOf(standing.redrivenAs),
    attempts_left: standing.attemptsLeft,
  });
}
