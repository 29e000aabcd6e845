// Owns the shape of a scenario: everything that is done to the coordinator, the worker and the
// messages between them, from the submit until the moment when every task should be over.

import { setTimeout as pause } from 'node:timers/promises';
import type { Known } from './known.ts';
import type { Held, Point } from './points.ts';
import type { Run, SubmitOptions } from './run.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface Scenario {
  readonly name: string;
  /** What happens, in words for the table. */
  readonly title: string;
  /** Where the user's documents tell how to live with it. */
  readonly page: string;
  /** Undefined: the scenario can bite. Else: why it cannot, with this worker. */
  cannotBite?(known: Known): string | undefined;
  /** What the tasks are submitted with. */
  readonly submit?: SubmitOptions;
  play(run: Run, known: Known): Promise<void>;
}

export const WORKERS = 'docs/WORKERS.md';

const NO_EFFECTS = 'the worker tells no effects (docs/REHEARSE.md#effects)';

export const needsEffects = ({ hasEffects }: Known): string | undefined =>
  hasEffects ? undefined : NO_EFFECTS;

export const needsTime = ({ hasEffects, hasHeartbeats }: Known): string | undefined =>
  hasEffects || hasHeartbeats
    ? undefined
    : `${NO_EFFECTS}, and its task is over before a heartbeat is due`;

export const needsQuestion = (known: Known): string | undefined => {
  if (known.withEffect.size === 0) return NO_EFFECTS;
  return known.asksBeforeEffect
    ? undefined
    : 'the worker sends no heartbeat before its effect, to ask for its lease';
};

/** The worker's place in the course of an attempt at which something happens to it. */
export interface Moment {
  readonly name: string;
  readonly title: string;
  readonly point: Point;
  readonly needsEffects: boolean;
}

export const MOMENTS: readonly Moment[] = [
  {
    name: 'before-effect',
    title: 'with the task just granted',
    point: 'grant',
    needsEffects: false,
  },
  {
    name: 'during-effect',
    title: 'while its effect is under way',
    point: 'effect',
    needsEffects: true,
  },
  {
    name: 'after-effect',
    title: 'right after its effect',
    point: 'effect answer',
    needsEffects: true,
  },
  {
    name: 'before-report',
    title: 'with its report on the way',
    point: 'report',
    needsEffects: false,
  },
  {
    name: 'after-report',
    title: 'with the answer to its report on the way',
    point: 'report answer',
    needsEffects: false,
  },
];

/** Submits a task, starts a worker, and holds the first message that comes to the point. */
export async function heldAt(
  run: Run,
  point: Point,
  options?: SubmitOptions,
): Promise<{ readonly worker: WorkerProcess; readonly held: Held }> {
  const coming = run.hold(point);
  coming.catch(() => {});
  await run.submit(options);
  const worker = await run.worker();
  return { worker, held: await coming };
}

/**
 * The first message by which the worker shows that it is at work on a task. A worker that is over
 * before it shows anything has just been granted the task.
 */
export const workPoint = ({ hasEffects, hasHeartbeats }: Known): Point =>
  hasEffects ? 'effect' : hasHeartbeats ? 'heartbeat' : 'grant';

/** Waits until the lease that the message is about has expired in the log. */
export const expired = (run: Run, { leaseId }: Held): Promise<unknown> =>
  run.coordinator.recorded(
    ({ type, lease_id: id }) => type === 'LeaseExpired' && id === leaseId,
    `LeaseExpired of ${leaseId}`,
  );

/** Waits until the attempt is over: its lease has expired, or the worker reported a failure. */
export const attemptOver = (run: Run, { leaseId }: Held): Promise<unknown> =>
  run.coordinator.recorded(
    ({ type, lease_id: id }) =>
      (type === 'LeaseExpired' || type === 'TaskFailed') && id === leaseId,
    `end of the attempt under ${leaseId}`,
  );

/** Waits until the task has been granted once more, for the n-th time. */
export const granted = (run: Run, { taskId }: Held, attempt: number): Promise<unknown> =>
  run.coordinator.recorded(
    ({ type, task_id: id, attempt: n }) =>
      type === 'LeaseGranted' && id === taskId && n === attempt,
    `attempt ${attempt} of ${taskId}`,
  );

/** A worker that was woken gets time to do what it should not. */
export const settle = (run: Run): Promise<void> => pause(run.options.leaseMs / 2);

export const leases = (run: Run, times: number): Promise<void> =>
  pause(run.options.leaseMs * times);
