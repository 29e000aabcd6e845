// Owns the scenarios in which messages between worker and coordinator are lost, delayed, doubled,
// or cut in the middle.

import type { Known } from './known.ts';
import type { Arrival, Point } from './points.ts';
import type { Run } from './run.ts';
import {
  expired,
  granted,
  heldAt,
  leases,
  needsQuestion,
  needsTime,
  type Scenario,
  settle,
  WORKERS,
  workPoint,
} from './scenario.ts';

/** In leases. Whoever sends no heartbeat meanwhile has lost the lease. */
const LONG = 2;

/**
 * Plays a task that takes longer than a lease: the ledger delays the answer to the effect. Without
 * effects, the task must take that long by itself, and its first heartbeat shows that it runs.
 */
async function longTask(
  run: Run,
  known: Known,
  meanwhile: (taskId: string) => Promise<void>,
): Promise<void> {
  const { held } = await heldAt(run, workPoint(known));
  if (!known.hasEffects) held.let('pass');
  await meanwhile(held.taskId ?? '');
  held.let('pass');
  await run.over();
  await settle(run);
}

const long: Scenario = {
  name: 'long-task',
  title: 'the effect takes longer than a lease; nothing else happens',
  page: `${WORKERS}, "The loop by hand"`,
  cannotBite: needsTime,
  play: (run, known) => longTask(run, known, () => leases(run, LONG)),
};

const heartbeats = (
  [
    ['heartbeats-lost', 'heartbeats do not arrive', 'heartbeat'],
    ['heartbeat-answers-lost', 'heartbeats arrive, but their answers do not', 'heartbeat answer'],
  ] as const
).map(
  ([name, what, point]): Scenario => ({
    name,
    title: `${what}, for two leases`,
    page: `${WORKERS}, "Worker: the same, kept for you"`,
    cannotBite: needsTime,
    play: (run, known) =>
      longTask(run, known, async () => {
        const ends = run.points.always(point, 'lose');
        await leases(run, LONG);
        ends();
      }),
  }),
);

/** Half a lease: a worker that asks once more still has its lease then. */
const UNCONFIRMED = 0.5;

const unconfirmed = (
  [
    ['confirmation-lost', 'has no answer, for its connection is cut', 'lose'],
    ['confirmation-unavailable', 'is answered UNAVAILABLE', 'unavailable'],
  ] as const
).map(
  ([name, what, fate]): Scenario => ({
    name,
    title: `the heartbeat that asks for the lease right before the effect ${what}`,
    page: `${WORKERS}, "Worker: the same, kept for you"`,
    cannotBite: needsQuestion,
    async play(run, { withEffect }) {
      const [payload] = run.options.payloads.filter((one) => withEffect.has(one));
      const options = payload === undefined ? {} : { payload };
      const { held } = await heldAt(run, 'grant', options);
      const ends = run.points.always('heartbeat', fate, ({ leaseId }) => leaseId === held.leaseId);
      held.let('pass');
      await leases(run, UNCONFIRMED);
      ends();
      await run.over();
      await settle(run);
    },
  }),
);

const rejected: Scenario = {
  name: 'heartbeat-rejected',
  title: 'the task is killed by an administrator while the worker is at work',
  page: `${WORKERS}, "The loop by hand"`,
  cannotBite: needsTime,
  play: (run, known) =>
    longTask(run, known, async (taskId) => {
      await run.coordinator.killTask(taskId);
      await leases(run, LONG);
    }),
};

const once = (
  name: string,
  title: string,
  point: Point,
  fate: 'lose' | 'cut' | 'double',
): Scenario => ({
  name,
  title,
  page: `${WORKERS}, "Any language"`,
  async play(run) {
    const { held } = await heldAt(run, point);
    held.let(fate);
    await run.over();
    await settle(run);
  },
});

const delayed: Scenario = {
  name: 'report-delayed',
  title: 'the report arrives when the lease is over',
  page: `${WORKERS}, "The loop by hand"`,
  async play(run) {
    // On a slow way everything is late: the heartbeats, which would keep the lease, and the
    // repetitions of a worker that does not wait long for the answer.
    const { held } = await heldAt(run, 'report');
    const own = ({ worker }: Arrival): boolean => worker === held.worker;
    const ends = [run.points.delay('heartbeat', own), run.points.delay('report', own)];
    await expired(run, held);
    await run.worker();
    await granted(run, held, 2);
    held.let('pass');
    for (const end of ends) end();
    await run.over();
    await settle(run);
  },
};

export const SCENARIOS_OF_MESSAGES: readonly Scenario[] = [
  long,
  ...heartbeats,
  ...unconfirmed,
  rejected,
  once('grant-lost', 'the answer with the task is lost', 'grant', 'lose'),
  once(
    'grant-cut',
    'the connection is cut in the middle of the answer with the task',
    'grant',
    'cut',
  ),
  once('report-lost', 'the report is lost', 'report', 'lose'),
  once('report-answer-lost', 'the answer to the report is lost', 'report answer', 'lose'),
  once(
    'report-answer-cut',
    'the connection is cut in the middle of the answer to the report',
    'report answer',
    'cut',
  ),
  once('report-doubled', 'the network delivers the report twice', 'report', 'double'),
  delayed,
];
