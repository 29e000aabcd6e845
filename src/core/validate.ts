// Owns the refusals that need no record: unknown ids, repeated reports, tasks that have ended. The
// order of the checks is fixed (R12), because a report may fail several of them and must get the
// same answer every time. Each answer is decided from the state alone.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import { type CancelledReason, notRemembered, type Rejected, rejected } from '../model/refusal.ts';
import type { HeartbeatRequest, ReportRequest, Request } from '../model/request.ts';
import { digestOf } from './digest-index.ts';
import type { State } from './state.ts';
import type { Subject } from './subject.ts';
import { NONE } from './task-table.ts';

/**
 * @param subject what the request names in this state
 * @returns REJECTED when the request can have no effect and nothing is to be recorded; undefined
 * when choose.ts must find the record, or the answer that needs none.
 */
export function validate(state: State, request: Request, subject: Subject): Rejected | undefined {
  switch (request.op) {
    case 'submit':
      return validateRequestId(state, request, subject);
    case 'heartbeat':
      return validateHeartbeat(state, request, subject);
    case 'complete':
    case 'fail':
      return unknown(request, subject) ?? duplicate(state, request, subject);
    case 'kill':
    case 'redrive':
      return validateAdministrative(state, request, subject);
    case 'task':
    case 'standing':
      return unknownTask(request.taskId, subject);
    default:
      return undefined;
  }
}

function validateRequestId(
  state: State,
  { contentHash }: Extract<Request, { op: 'submit' }>,
  { submitted }: Subject,
): Rejected | undefined {
  if (submitted === NONE || contentHash === undefined) return undefined;
  if (state.requestIds.hasContent(submitted, digestOf(contentHash))) return undefined;
  const first = formatTaskId(state.tasks.id(submitted));
  return rejected(
    'request_id_conflict',
    `this request id was used for ${first}, with another payload, queue or options`,
    { field: 'request_id' },
  );
}

const unknownTask = (taskId: number, { row }: Subject): Rejected | undefined =>
  row === NONE ? rejected('unknown_task', notRemembered(taskId)) : undefined;

/**
 * Whoever names a lease that was never granted for this task learns nothing more about the task.
 */
function unknown(
  { taskId, leaseId }: HeartbeatRequest | ReportRequest,
  subject: Subject,
): Rejected | undefined {
  const refused = unknownTask(taskId, subject);
  if (refused !== undefined) return refused;
  if (subject.lease?.leaseId === leaseId || subject.ended !== undefined) return undefined;
  const lease = formatLeaseId(leaseId);
  const task = formatTaskId(taskId);
  return rejected('unknown_lease', `lease ${lease} was never granted for ${task}`);
}

function duplicate(
  state: State,
  request: ReportRequest,
  { row, ended }: Subject,
): Rejected | undefined {
  // A worker whose answer was lost reports once more. The first outcome tells it what became of
  // its report, and the repetition changes nothing (R11).
  if (ended?.outcome === undefined) return undefined;
  return rejected(
    'duplicate_report',
    `lease ${formatLeaseId(request.leaseId)} was reported before, by record ${ended.reportRecord}`,
    {
      firstOutcome: ended.outcome,
      firstReport: ended.report,
      firstRecord: ended.reportRecord,
      taskState: state.tasks.state(row),
    },
  );
}

/** A heartbeat without authority is rejected and leaves no trace (R15). */
function validateHeartbeat(
  state: State,
  request: HeartbeatRequest,
  subject: Subject,
): Rejected | undefined {
  const refused = unknown(request, subject);
  if (refused !== undefined) return refused;
  const { row, ended } = subject;
  if (ended === undefined) return undefined;
  const taskState = state.tasks.state(row);
  const lease = formatLeaseId(request.leaseId);
  if (ended.outcome === 'COMMITTED') {
    const over = taskState !== 'WAITING' && taskState !== 'LEASED';
    return rejected(
      over ? 'task_terminal' : 'already_reported',
      `lease ${lease} ended with its own report, record ${ended.reportRecord}`,
      { taskState },
    );
  }
  // No TaskCancelled: it would be the lease's one outcome (R11), which is kept for its report.
  const reason = lostBecause(state, row, request.leaseId);
  return rejected(reason, lostSentence(reason, lease), { taskState });
}

function validateAdministrative(
  state: State,
  request: Extract<Request, { op: 'kill' | 'redrive' }>,
  subject: Subject,
): Rejected | undefined {
  const refused = unknownTask(request.taskId, subject);
  if (refused !== undefined) return refused;
  const taskState = state.tasks.state(subject.row);
  const task = formatTaskId(request.taskId);
  if (request.op === 'kill') {
    // A repeated kill is REJECTED, so that it can be told from the one that ended the task (R22).
    return taskState === 'WAITING' || taskState === 'LEASED'
      ? undefined
      : rejected('task_terminal', `${task} is ${taskState} already`, { taskState });
  }
  return taskState === 'FAILED' || taskState === 'DEAD'
    ? undefined
    : rejected('not_redrivable', `${task} is ${taskState}; only FAILED and DEAD are redriven`, {
        taskState,
      });
}

/** @returns why an ended lease without an outcome gives no authority any more. */
export function lostBecause(state: State, row: number, leaseId: number): CancelledReason {
  // DEAD comes first, whatever became of the lease: the order of the checks is fixed (R12).
  if (state.tasks.state(row) === 'DEAD') return 'task_dead';
  return state.newestLease(row) > leaseId ? 'lease_superseded' : 'lease_expired';
}

export function lostSentence(reason: CancelledReason, lease: string): string {
  switch (reason) {
    case 'task_dead':
      return `the task was ended while or after ${lease} was held`;
    case 'lease_superseded':
      return `lease ${lease} ran out and the task was leased again`;
    default:
      return `lease ${lease} ran out`;
  }
}
