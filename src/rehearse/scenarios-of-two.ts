// Owns the scenarios in which two things go wrong in one run. One pair is fixed, because every
// worker meets it sooner or later; the seed chooses the other pair.

import type { Run } from './run.ts';
import { heldAt, leases, type Scenario, settle, WORKERS } from './scenario.ts';

/** Steps in once, at the next moment that fits. */
type Disturbance = (run: Run) => Promise<void>;

const losesGrant: Disturbance = async (run) => (await run.hold('grant')).let('lose');
const losesReport: Disturbance = async (run) => (await run.hold('report')).let('lose');
const losesAnswer: Disturbance = async (run) => (await run.hold('report answer')).let('lose');
const doublesReport: Disturbance = async (run) => (await run.hold('report')).let('double');

const restarts: Disturbance = async (run) => {
  const held = await run.hold('grant');
  await run.coordinator.kill();
  held.let('pass');
  await run.coordinator.start();
};

const refusesReports: Disturbance = async (run) => {
  const ends = run.points.always('report', 'unavailable');
  await leases(run, 0.5);
  ends();
};

/** In their order: those that keep a message from its receiver, then those that let it through. */
const DISTURBANCES = [
  losesGrant,
  losesReport,
  losesAnswer,
  doublesReport,
  restarts,
  refusesReports,
] as const;

async function playBoth(run: Run, both: readonly Disturbance[]): Promise<void> {
  const stepping = Promise.all(both.map((disturbance) => disturbance(run)));
  stepping.catch(() => {});
  await run.submit();
  await run.worker();
  await stepping;
  await run.over();
  await settle(run);
}

const answers: Scenario = {
  name: 'grant-and-report-answers-lost',
  title: 'the answer with the task is lost, and then the answer to the report',
  page: `${WORKERS}, "Any language"`,
  play: (run) => playBoth(run, [losesGrant, losesAnswer]),
};

const chosen: Scenario = {
  name: 'two-at-once',
  title: 'two things go wrong in one run; the seed chooses which',
  page: `${WORKERS}, "Any language"`,
  async play(run) {
    const count = DISTURBANCES.length;
    const first = run.options.seed % count;
    const second = (first + 1 + (Math.floor(run.options.seed / count) % (count - 1))) % count;
    // What lets a grant or a report through comes last: one that has arrived is not sent again.
    const order = [first, second].sort((a, b) => a - b);
    const both = order.map((index) => DISTURBANCES[index] as Disturbance);
    await playBoth(run, both);
  },
};

const frozenAndRestarted: Scenario = {
  name: 'frozen-while-coordinator-restarts',
  title: 'the worker is frozen beyond its lease, and the coordinator is killed and back meanwhile',
  page: `${WORKERS}, "Worker: the same, kept for you"`,
  async play(run) {
    const { worker, held } = await heldAt(run, 'grant');
    await worker.freeze();
    held.let('pass');
    await run.coordinator.kill();
    await leases(run, 1.2);
    await run.coordinator.start();
    await run.worker();
    await run.over();
    worker.wake();
    await settle(run);
  },
};

export const SCENARIOS_OF_TWO: readonly Scenario[] = [answers, chosen, frozenAndRestarted];
