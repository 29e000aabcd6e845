// Owns the scenarios in which the coordinator is down or busy for a while, and the scenarios with
// unusual tasks.

import {
  attemptOver,
  heldAt,
  leases,
  needsEffects,
  type Scenario,
  settle,
  WORKERS,
} from './scenario.ts';

const restarted = (
  [
    ['coordinator-back-soon', 'is killed and back before the lease is over', 0.2],
    ['coordinator-back-late', 'is killed and back when the lease is over', 1.3],
  ] as const
).map(
  ([name, title, after]): Scenario => ({
    name,
    title: `the coordinator ${title}, with a report on the way`,
    page: `${WORKERS}, "Error codes"`,
    async play(run) {
      const { held } = await heldAt(run, 'report');
      await run.coordinator.kill();
      held.let('pass');
      await leases(run, after);
      await run.coordinator.start();
      await run.over();
      await settle(run);
    },
  }),
);

const unavailable: Scenario = {
  name: 'unavailable',
  title: 'the coordinator answers UNAVAILABLE for half a lease, to a report first',
  page: `${WORKERS}, "Error codes"`,
  async play(run) {
    const { held } = await heldAt(run, 'report');
    const ends = (['lease', 'heartbeat', 'report'] as const).map((point) =>
      run.points.always(point, 'unavailable'),
    );
    held.let('unavailable');
    await leases(run, 0.5);
    for (const end of ends) end();
    await run.over();
    await settle(run);
  },
};

const window: Scenario = {
  name: 'execution-window',
  title: 'the effect takes longer than the execution window of the attempt',
  page: `${WORKERS}, "Worker: the same, kept for you"`,
  cannotBite: needsEffects,
  async play(run) {
    const { leaseMs } = run.options;
    const { held } = await heldAt(run, 'effect', {
      execution_window_ms: Math.round(leaseMs * 1.5),
    });
    // The library's Worker does not wait for the end of the window: it reports before.
    await attemptOver(run, held);
    // A worker with several tasks at a time may begin the next attempt meanwhile, and be first with
    // its effect, or not: the course must be the same.
    await run.over(leaseMs);
    held.let('pass');
    await run.over();
    await settle(run);
  },
};

const noJson: Scenario = {
  name: 'payload-no-json',
  title: 'the payload is not JSON',
  page: `${WORKERS}, "Options"`,
  async play(run) {
    await run.submit({ payload: 'no JSON {', retry_policy: { max_retries: 1, backoff_ms: 0 } });
    await run.submit();
    await run.worker();
    await run.over();
  },
};

const twice: Scenario = {
  name: 'submitted-twice',
  title: 'the same request id is submitted twice',
  page: `${WORKERS}, "Submitting"`,
  async play(run) {
    await run.submit({ payload: run.options.payloads[0] ?? '', request_id: 'rehearsal' });
    await run.submit({ payload: run.options.payloads[0] ?? '', request_id: 'rehearsal' });
    await run.worker();
    await run.over();
  },
};

export const SCENARIOS_OF_THE_COORDINATOR = [...restarted, unavailable, window, noJson, twice];
