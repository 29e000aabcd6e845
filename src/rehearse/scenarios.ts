// Owns the list of all scenarios.

import type { Scenario } from './scenario.ts';
import { SCENARIOS_OF_MESSAGES } from './scenarios-of-messages.ts';
import { SCENARIOS_OF_THE_COORDINATOR } from './scenarios-of-the-coordinator.ts';
import { SCENARIOS_OF_TWO } from './scenarios-of-two.ts';
import { SCENARIOS_OF_WORKERS } from './scenarios-of-workers.ts';

/** Played first and alone: what the worker does when nothing goes wrong. */
export const UNDISTURBED: Scenario = {
  name: 'undisturbed',
  title: 'nothing goes wrong',
  page: 'docs/WORKERS.md, "The loop by hand"',
  async play(run) {
    await run.submit();
    await run.submit();
    await run.worker();
    await run.over();
  },
};

export const SCENARIOS: readonly Scenario[] = [
  ...SCENARIOS_OF_WORKERS,
  ...SCENARIOS_OF_MESSAGES,
  ...SCENARIOS_OF_THE_COORDINATOR,
  ...SCENARIOS_OF_TWO,
];
