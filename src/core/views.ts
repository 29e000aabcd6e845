// Owns the answers to reads: one task, lists of tasks, and where a task stands now. What the state
// does not hold is read from the task's own records.

import { COORDINATOR_OPERATIONS } from '../model/coordinator-operations.ts';
import type { TaskCompleted } from '../model/records.ts';
import type { DecidedBy, Request, TaskRequest } from '../model/request.ts';
import type {
  HeldLease,
  Relative,
  Standing,
  TaskShown,
  TaskSummary,
  WaitingAsker,
} from '../model/response.ts';
import { type Context, recordAt } from './context.ts';
import { isPoisoned } from './lease-manager.ts';
import { NONE } from './task-table.ts';

export type ReadRequest = DecidedBy<'read'>;
export const isRead = (request: Request): request is ReadRequest =>
  COORDINATOR_OPERATIONS[request.op].coordinator === 'read';

/** Leases that are looked at for those of one worker. */
const SCANNED_MAX = 50_000;
const AHEAD_MAX = 1_000;
/** A crash loop can make thousands of starts; the newest are enough to explain a task. */
const STARTS_MAX = 100;
/** Of others it is only looked whether they are on a restored log. */
const BESIDE_MAX = 5_000;
/** Leases of one worker at its capacity that are named. */
const LEASES_NAMED = 8;

export function showTask(context: Context, request: TaskRequest, row: number): TaskShown {
  const { tasks } = context.state;
  const created = recordAt(context, request.taskId, 'TaskCreated');
  const end = tasks.state(row) === 'COMPLETED' ? context.read(tasks.endRecord(row)) : undefined;
  return {
    kind: 'task',
    task: summary(context, row),
    payload: created.payload,
    result: (end as TaskCompleted | undefined)?.result,
    base64: request.base64,
  };
}

export function summary(context: Context, row: number): TaskSummary {
  const { state } = context;
  const { tasks } = state;
  const taskId = tasks.id(row);
  const created = recordAt(context, taskId, 'TaskCreated');
  const history = state.histories.get(row);
  const failure =
    history === undefined || history.lastFailure === 0
      ? undefined
      : recordAt(context, history.lastFailure, 'TaskFailed');
  const name = tasks.state(row);
  const waiting = name === 'WAITING';
  const over = !waiting && name !== 'LEASED';
  const end = over ? context.read(tasks.endRecord(row)) : undefined;
  const inBackoff = waiting && failure !== undefined && tasks.place(row) === failure.seq;
  return {
    taskId,
    queue: created.queue,
    state: name,
    attempt: tasks.attempt(row),
    maxRetries: created.retryPolicy.maxRetries,
    backoffMs: created.retryPolicy.backoffMs,
    executionWindowMs: created.executionWindowMs,
    requestId: created.requestId,
    originTaskId: created.originTaskId,
    redrivenAs: state.redrivenAs.get(taskId),
    createdAt: created.at,
    eligibleAt: waiting ? tasks.eligibleAt(row) : undefined,
    lease: currentLease(context, row),
    endedAt: end?.at,
    expirations: history?.expirations ?? 0,
    failures: history?.failures ?? 0,
    retryAt: inBackoff ? failure.retryAt : undefined,
    lastFailureReason: failure?.failureReason,
    lastFailureKind: failure?.kind,
    deadReason: end?.type === 'TaskDead' ? end.reason : undefined,
    metadata: created.metadata,
    records: history?.records ?? recordsWithoutHistory(context, row),
  };
}

function currentLease({ state }: Context, row: number): TaskSummary['lease'] {
  if (state.tasks.state(row) !== 'LEASED') return undefined;
  const lease = state.leases.get(state.tasks.leaseId(row));
  if (lease === undefined) return undefined;
  return {
    leaseId: lease.leaseId,
    workerId: lease.workerId,
    grantedAt: lease.grantedAt,
    leaseExpiry: lease.expiry,
    executionDeadline: lease.deadline,
  };
}

/** A task whose only attempt runs or completed: created, granted, extended, completed. */
function recordsWithoutHistory(context: Context, row: number): number {
  const { state } = context;
  switch (state.tasks.state(row)) {
    case 'LEASED':
      return 2 + (state.leases.get(state.tasks.leaseId(row))?.extensions ?? 0);
    case 'COMPLETED':
      return 3 + recordAt(context, state.tasks.endRecord(row), 'TaskCompleted').extensions;
    case 'DEAD':
      return 2;
    default:
      return 1;
  }
}

/**
 * The newest starts in a task's history, how many older ones there are in it, and all others since
 * the task's creation, which matter where they are on a restored log.
 * @param last the newest record of the task, while it is over
 */
function startsSince(starts: readonly number[], taskId: number, last = Number.POSITIVE_INFINITY) {
  const first = starts.findLastIndex((seq) => seq < taskId) + 1;
  const end = starts.findLastIndex((seq) => seq < last) + 1;
  const from = Math.max(first, end - STARTS_MAX);
  const beside = [...starts.slice(first, from), ...starts.slice(end)];
  return {
    starts: starts.slice(from, end),
    startsLeftOut: from - first,
    startsBeside: beside.slice(-BESIDE_MAX),
  };
}

/** The newest starts between the creation of a task and that of its redrive. */
const startsBetween = (starts: readonly number[], originId: number, heirId: number): number[] =>
  starts.filter((seq) => seq > originId && seq < heirId).slice(-BESIDE_MAX);

/**
 * Advisory, in no record: the workers that ask for the task's queue. When no worker asks for it:
 * some queues that workers do ask for.
 */
export interface Asking {
  readonly lastAt?: number | undefined;
  readonly parked?: number | undefined;
  readonly elsewhere?: readonly string[] | undefined;
  /** The workers of the oldest parked requests, with the capacity that they declared. */
  readonly askers?: readonly Asker[] | undefined;
}

export interface Asker {
  readonly workerId: string;
  readonly capacity?: number | undefined;
}

/** What a worker holds by its name, as the state has it; a bounded number of leases is named. */
function holdingOf({ state }: Context, { workerId, capacity }: Asker): WaitingAsker {
  const held = state.leases.heldBy(workerId);
  const leases: HeldLease[] = [];
  let looked = 0;
  for (const lease of held === 0 ? [] : state.leases.all()) {
    looked += 1;
    if (lease.workerId === workerId) {
      leases.push({
        leaseId: lease.leaseId,
        taskId: lease.taskId,
        leaseExpiry: lease.expiry,
      });
    }
    if (leases.length === LEASES_NAMED || leases.length === held || looked === SCANNED_MAX) break;
  }
  return { workerId, capacity, held, leases };
}

/** The tasks that a redrive connects this one with. */
function relativesOf({ state }: Context, taskId: number): Relative[] {
  const found = [
    { role: 'origin' as const, id: state.originOf.get(taskId) },
    { role: 'heir' as const, id: state.redrivenAs.get(taskId) },
  ];
  return found.flatMap(({ role, id }) => {
    const row = id === undefined ? NONE : state.tasks.find(id);
    if (id === undefined || row === NONE) return [];
    const name = state.tasks.state(row);
    const lease = name === 'LEASED' ? state.leases.get(state.tasks.leaseId(row)) : undefined;
    const lastExtension = lease?.lastExtension ?? 0;
    const lastRecord = state.tasks.last(row);
    const starts = role === 'origin' ? startsBetween(state.starts, id, taskId) : [];
    return [{ role, taskId: id, state: name, lastRecord, lastExtension, starts }];
  });
}

export function standing(context: Context, row: number, now: number, asking: Asking): Standing {
  const { state, knobs } = context;
  const { tasks } = state;
  const taskId = tasks.id(row);
  const waiting = tasks.state(row) === 'WAITING';
  const isOver = !waiting && tasks.state(row) !== 'LEASED';
  const queue = state.queueOf(row);
  const lease = currentLease(context, row);
  const ahead = waiting ? queue.ahead(tasks, row, AHEAD_MAX + 1) : undefined;
  const { maxRetries } = state.contracts.at(tasks.contract(row)).retryPolicy;
  const charged = tasks.attempt(row) - (state.histories.get(row)?.released ?? 0);
  return {
    kind: 'standing',
    taskId,
    state: tasks.state(row),
    queue: queue.name,
    now,
    asOf: state.lastSeq,
    lastRecord: tasks.last(row),
    ...startsSince(state.starts, taskId, isOver ? tasks.last(row) : undefined),
    lastExtension: lease === undefined ? 0 : (state.leases.get(lease.leaseId)?.lastExtension ?? 0),
    eligibleAt: waiting ? tasks.eligibleAt(row) : undefined,
    leaseId: lease?.leaseId,
    leaseExpiry: lease?.leaseExpiry,
    executionDeadline: lease?.executionDeadline,
    ahead: ahead === undefined ? undefined : Math.min(ahead, AHEAD_MAX),
    aheadIsMore: ahead !== undefined && ahead > AHEAD_MAX,
    queueLastAskedAt: asking.lastAt,
    queueParked: asking.parked,
    queuesAskedFor: asking.elsewhere,
    askers: waiting ? asking.askers?.map((asker) => holdingOf(context, asker)) : undefined,
    poisonThreshold: knobs.poisonThreshold,
    relatives: relativesOf(context, taskId),
    poisonAtNextGrant: waiting && isPoisoned(context, row, knobs.poisonThreshold),
    redrivenAs: state.redrivenAs.get(taskId),
    attemptsLeft: Math.max(0, maxRetries + 1 - charged),
  };
}
