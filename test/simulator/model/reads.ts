// Owns what the model says to reads: one task as it stands, lists, and the counts.

import type { Request, TaskRequest, TasksRequest } from '../../../src/model/request.ts';
import type { Response, TaskShown, TaskSummary } from '../../../src/model/response.ts';
import { difference } from '../checkers/same.ts';
import type { Book } from './book.ts';
import { heldLease, isOver, type ModelTask } from './tasks.ts';

/** An answer, or the question whether an answer is the right one (undefined: it is). */
export type Expectation = Response | ((actual: Response) => string | undefined);

/** What a read is answered, or that it waits for the end of its task. */
export function answerRead(
  book: Book,
  request: Request,
  now: number,
  mayWait: boolean,
): Expectation | 'park' {
  if (request.op === 'tasks') return checkList(book, request);
  if (request.op === 'task' || request.op === 'standing') {
    const task = book.find(request.taskId);
    if (task === undefined) {
      return { kind: 'refusal', outcome: 'REJECTED', reason: 'unknown_task', record: null };
    }
    if (request.op === 'standing') return checkStanding(book, task, now);
    if (request.waitMs > 0 && !isOver(task) && mayWait) return 'park';
    return showTask(task, request);
  }
  if (request.op === 'queues') return checkQueues(book, now);
  if (request.op !== 'stats') return (actual) => overview(actual, () => undefined);
  const figures = { ...counts(book), now };
  const tasks = countsByState(book);
  return (actual) =>
    overview(actual, (body) => subset(figures, body) ?? subset(tasks, body.tasks as object));
}

function checkStanding(book: Book, task: ModelTask, now: number): Expectation {
  const { id: taskId, state, queue, last: lastRecord } = task;
  const lease = heldLease(task);
  const isWaiting = state === 'WAITING';
  const before = isWaiting ? book.order.ahead(task) : 0;
  const expected = {
    kind: 'standing',
    taskId,
    state,
    queue,
    now,
    lastRecord,
    asOf: book.lastSeq,
    eligibleAt: isWaiting ? task.eligibleAt : undefined,
    leaseId: lease?.id,
    leaseExpiry: lease?.expiry,
    executionDeadline: lease?.deadline,
    lastExtension: lease?.lastExtension ?? 0,
    ahead: isWaiting ? Math.min(before, 1_000) : undefined,
    aheadIsMore: before > 1_000,
    redrivenAs: task.redrivenAs,
    attemptsLeft: Math.max(0, task.policy.maxRetries + 1 - (task.attempt - task.released)),
  };
  return (actual) => subset(expected, actual);
}

const COUNTED = {
  WAITING: 'waiting',
  LEASED: 'leased',
  COMPLETED: 'completed',
  FAILED: 'failed',
  DEAD: 'dead',
} as const;

function checkQueues(book: Book, now: number): Expectation {
  const rows = new Map<string, Record<string, number | string>>();
  for (const map of [book.waiting, book.leased, book.over]) {
    for (const { queue, state, eligibleAt } of map.values()) {
      let row = rows.get(queue);
      if (row === undefined) {
        row = { queue, waiting: 0, leased: 0, completed: 0, failed: 0, dead: 0, eligible: 0 };
        rows.set(queue, row);
      }
      const name = COUNTED[state];
      row[name] = (row[name] as number) + 1;
      if (state === 'WAITING' && eligibleAt <= now) row.eligible = (row.eligible as number) + 1;
    }
  }
  const expected = [...rows.values()].sort((a, b) => (String(a.queue) < String(b.queue) ? -1 : 1));
  return (actual) =>
    overview(actual, ({ queues }) => {
      const found = queues as readonly object[];
      if (found.length !== expected.length) return `${found.length} queues`;
      return expected
        .map((row, n) => subset(row, found[n] as object))
        .find((different) => different !== undefined);
    });
}

/** A page: the matching tasks after `after`, in order, and none left out before `next`. */
function checkList(book: Book, request: TasksRequest): Expectation {
  const { after, state, queue, requestId, limit } = request;
  const matching: ModelTask[] = [];
  for (const map of [book.waiting, book.leased, book.over]) {
    for (const task of map.values()) {
      if (task.id <= after || (state !== undefined && task.state !== state)) continue;
      if (queue !== undefined && task.queue !== queue) continue;
      if (requestId === undefined || task.requestId === requestId) matching.push(task);
    }
  }
  matching.sort((a, b) => a.id - b.id);
  const page = matching.slice(0, limit).map(summary);
  const following = matching[limit]?.id;
  return (actual) => {
    if (actual.kind !== 'tasks') return `expected tasks, got ${actual.kind}`;
    const { next } = actual;
    if (next === null && following !== undefined) return `task ${following} follows`;
    if (next !== null && following !== undefined && next >= following) return `next: ${next}`;
    if (next !== null && next < (page.at(-1)?.taskId ?? request.after)) return `next: ${next}`;
    return difference(page, actual.tasks);
  };
}

type Body = Readonly<Record<string, unknown>>;

function overview(actual: Response, check: (body: Body) => string | undefined): string | undefined {
  return actual.kind === 'overview'
    ? check(actual.body)
    : `expected an overview, got ${actual.kind}`;
}

function subset(expected: Record<string, unknown>, actual: object): string | undefined {
  const found = actual as Record<string, unknown>;
  for (const key of Object.keys(expected)) {
    const different = difference(expected[key], found[key]);
    if (different !== undefined) return `${key}: ${different}`;
  }
  return undefined;
}

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
    deadReason: task.deadReason,
    metadata: task.metadata,
    records: task.records,
  };
}

/** The counters that requirements and rulings name (R33), as stats shows them. */
function counts(book: Book): Record<string, number> {
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

function countsByState(book: Book): Record<string, number> {
  const sums = { WAITING: book.waiting.size, LEASED: book.leased.size };
  const ended = { COMPLETED: 0, FAILED: 0, DEAD: 0 };
  for (const task of book.over.values()) ended[task.state as keyof typeof ended] += 1;
  return { ...sums, ...ended };
}
