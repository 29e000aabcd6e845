// Owns what the model says to reads: one task as it stands, lists, and the counts.

import type { TaskRequest, TasksRequest } from '../../../src/protocol/request.ts';
import type { TaskList, TaskShown, TaskSummary } from '../../../src/protocol/response.ts';
import type { Book } from './book.ts';
import { heldLease, isOver, type ModelTask } from './tasks.ts';

export function showTask(task: ModelTask, request: TaskRequest): TaskShown {
  const { payload, result } = task;
  return { kind: 'task', task: summary(task), payload, result, base64: request.base64 };
}

function summary(task: ModelTask): TaskSummary {
  const lease = heldLease(task);
  const failure = task.lastFailure;
  const waiting = task.state === 'WAITING';
  return {
    taskId: task.id,
    queue: task.queue,
    state: task.state,
    attempt: task.attempt,
    maxRetries: task.policy.maxRetries,
    backoffMs: task.policy.backoffMs,
    executionWindowMs: task.windowMs,
    requestId: task.requestId,
    originTaskId: task.origin,
    redrivenAs: task.redrivenAs,
    createdAt: task.createdAt,
    eligibleAt: waiting ? task.eligibleAt : undefined,
    lease: lease && {
      leaseId: lease.id,
      workerId: lease.workerId,
      grantedAt: lease.grantedAt,
      leaseExpiry: lease.expiry,
      executionDeadline: lease.deadline,
    },
    endedAt: isOver(task) ? task.endAt : undefined,
    expirations: task.expirations,
    failures: task.failures,
    retryAt: waiting && failure?.record === task.place ? failure.retryAt : undefined,
    lastFailureReason: failure?.reason,
    lastFailureKind: failure?.kind,
    metadata: task.metadata,
    records: task.records,
  };
}

export function listTasks(book: Book, request: TasksRequest): TaskList {
  const matching = [...book.waiting.values(), ...book.leased.values(), ...book.over.values()]
    .filter(
      (task) =>
        task.id > request.after &&
        (request.state === undefined || task.state === request.state) &&
        (request.queue === undefined || task.queue === request.queue) &&
        (request.requestId === undefined || task.requestId === request.requestId),
    )
    .sort((a, b) => a.id - b.id);
  return { kind: 'tasks', tasks: matching.slice(0, request.limit).map(summary), next: null };
}

/** The counters that requirements and rulings name (S3 8, R33), as stats shows them. */
export function counts(book: Book): Record<string, number> {
  return {
    leases_active: book.leased.size,
    lease_expirations: book.totals.leaseExpirations,
    duplicate_executions: book.totals.duplicateExecutions,
    late_reports: book.totals.lateReports,
    retries: book.totals.retries,
    coordinator_restarts: Math.max(0, book.totals.starts - 1),
    log_last_sequence: book.lastSeq,
    epoch: book.epoch,
  };
}

export function countsByState(book: Book): Record<string, number> {
  const sums = { WAITING: book.waiting.size, LEASED: book.leased.size };
  const ended = { COMPLETED: 0, FAILED: 0, DEAD: 0 };
  for (const task of book.over.values()) ended[task.state as keyof typeof ended] += 1;
  return { ...sums, ...ended };
}
