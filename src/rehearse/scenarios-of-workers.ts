// Owns the scenarios in which the worker's own process is killed, frozen, or told to stop.

import { setTimeout as pause } from 'node:timers/promises';
import { inFlightMs, stopMs } from './allowances.ts';
import type { Run } from './run.ts';
import {
  expired,
  granted,
  heldAt,
  leases,
  MOMENTS,
  type Moment,
  needsEffects,
  type Scenario,
  settle,
  WORKERS,
  workPoint,
} from './scenario.ts';

const bites = ({ needsEffects: needed }: Moment) => (needed ? { cannotBite: needsEffects } : {});

const killed = MOMENTS.map(
  (moment): Scenario => ({
    name: `killed-${moment.name}`,
    title: `the worker is killed ${moment.title}`,
    page: 'docs/TWICE.md, "A worker is killed in the middle of a task"',
    ...bites(moment),
    async play(run) {
      const { worker, held } = await heldAt(run, moment.point);
      worker.kill();
      await worker.ended;
      held.let('lose');
      await run.over();
    },
  }),
);

const frozen = MOMENTS.map(
  (moment): Scenario => ({
    name: `frozen-${moment.name}`,
    title: `the worker is frozen ${moment.title}, and woken when its lease is another worker's`,
    page: `${WORKERS}, "Worker: the same, kept for you"`,
    ...bites(moment),
    async play(run) {
      const { worker, held } = await heldAt(run, moment.point);
      await worker.freeze();
      held.let('pass');
      if (moment.point !== 'report' && moment.point !== 'report answer') {
        await expired(run, held);
        await run.worker();
        await granted(run, held, 2);
        // Woken earlier, it might be first with its effect, or not: the course must be the same.
        await run.over();
      } else {
        await leases(run, 1.2);
      }
      worker.wake();
      await run.over();
      await settle(run);
    },
  }),
);

const wokenAmongOthers: Scenario = {
  name: 'woken-among-others',
  title:
    'the worker is frozen with the task just granted, and woken while another worker works on it',
  page: `${WORKERS}, "Worker: the same, kept for you"`,
  cannotBite: needsEffects,
  async play(run) {
    const { worker, held } = await heldAt(run, 'grant');
    await worker.freeze();
    held.let('pass');
    await expired(run, held);
    const other = run.hold('effect');
    other.catch(() => {});
    await run.worker();
    const effect = await other;
    // A look at the store shows no effect yet: the lease alone tells who may go on.
    worker.wake();
    await settle(run);
    effect.let('pass');
    await run.over();
    await settle(run);
  },
};

/** Waits until all tasks have been granted and read, or the worker had time to ask for them. */
async function handsFull(run: Run): Promise<void> {
  const { leaseMs } = run.options;
  const end = performance.now() + leaseMs / 2;
  const isFull = (): boolean => {
    const given = run.traffic.exchanges.filter(({ granted: leases }) => leases.length > 0);
    const tasks = new Set(given.flatMap(({ granted: leases }) => leases.map((one) => one.taskId)));
    const readAt = Math.max(...given.map(({ deliveredAt }) => deliveredAt ?? Infinity));
    return tasks.size === run.tasks.length && readAt + inFlightMs(leaseMs) <= run.traffic.now();
  };
  while (!isFull() && performance.now() < end) await pause(LOOK_MS);
}

const LOOK_MS = 20;
const TASKS_AT_STOP = 3;
/** Longer than a lease, and far from all the time that a worker has to stop. */
const longWorkMs = (leaseMs: number): number => Math.min(leaseMs * 2, stopMs(leaseMs) * 0.4);
const STOPS = ['SIGTERM', 'SIGINT'] as const;

const stopped = STOPS.flatMap((signal): Scenario[] => [
  {
    name: `${signal.toLowerCase()}-at-work`,
    title: `the worker is told to stop by ${signal} in the middle of a task`,
    page: `${WORKERS}, "Stopping"`,
    async play(run, known) {
      const point = workPoint(known);
      const coming = run.hold(point);
      coming.catch(() => {});
      // A worker that takes several tasks at a time has them in hand then.
      for (let task = 1; task <= TASKS_AT_STOP; task += 1) await run.submit();
      const worker = await run.worker();
      const held = await coming;
      // A heartbeat that is held would hold up a worker with one connection.
      if (point !== 'effect') held.let('pass');
      if (point === 'grant') await pause(inFlightMs(run.options.leaseMs));
      // While the effect is held, nothing ends: whether a worker that leases one task after the
      // other has them all in hand when the signal comes must not depend on how quick it is.
      if (point === 'effect') await handsFull(run);
      worker.tellToStop(signal);
      // Work that goes on for longer than a lease after the signal needs its heartbeats still.
      await Promise.race([worker.ended, pause(longWorkMs(run.options.leaseMs))]);
      held.let('pass');
      await run.stopped(worker);
      await run.over();
    },
  },
  {
    name: `${signal.toLowerCase()}-idle`,
    title: `the worker is told to stop by ${signal} while it waits for tasks`,
    page: `${WORKERS}, "Stopping"`,
    async play(run) {
      await run.submit();
      const worker = await run.worker();
      await run.over();
      await settle(run);
      if (worker.isOver) return;
      worker.tellToStop(signal);
      await run.stopped(worker);
    },
  },
]);

const poison: Scenario = {
  name: 'poison-payload',
  title: 'one task kills each worker that takes it; another task waits behind it',
  page: 'docs/OPERATING.md, "When something is wrong"',
  async play(run) {
    const bad = await run.submit();
    await run.submit();
    await run.worker();
    for (let attempt = 1; attempt <= 3; attempt++) {
      const held = await run.hold('grant', ({ taskId }) => taskId === bad);
      const worker = run.workers[held.worker - 1];
      worker?.kill();
      await worker?.ended;
      held.let('lose');
    }
    await run.over();
  },
};

const twoWorkers: Scenario = {
  name: 'two-workers',
  title: "one worker's heartbeats are lost, and a second worker takes the task at the boundary",
  page: `${WORKERS}, "Worker: the same, kept for you"`,
  async play(run) {
    const ends = run.points.always('heartbeat', 'lose', ({ worker }) => worker === 1);
    const { held } = await heldAt(run, 'grant');
    held.let('pass');
    await run.worker();
    await run.over();
    ends();
    await settle(run);
  },
};

export const SCENARIOS_OF_WORKERS = [
  ...killed,
  ...frozen,
  wokenAmongOthers,
  ...stopped,
  poison,
  twoWorkers,
];
