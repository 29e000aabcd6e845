// Owns the last part of an explanation: the task's present state, and the events that will change
// it. A sentence that is advisory (when a worker last asked) says so. Where the coordinator does
// not know, nothing is said.

import type { Standing } from '../model/response.ts';
import { backoffFact, budgetFact, poisonFact } from './budget.ts';
import type { ExplainedNow, Fact } from './explanation.ts';
import { leasedNow } from './now-leased.ts';
import { overNow } from './now-over.ts';
import { waitingNow } from './now-waiting.ts';
import type { Situation, Told } from './situation.ts';
import { workersNow } from './workers-now.ts';

export function explainNow(situation: Situation): ExplainedNow {
  const { created, standing, attempts, own, relatives } = situation;
  const { budget, over, tell, advisory } = situation;
  const { facts, next } = tellNow(situation);
  const permanent = over?.type === 'TaskFailed' && over.kind === 'permanent';
  return {
    state: standing.state,
    at: standing.now,
    eligibleAt: standing.eligibleAt,
    ahead: standing.ahead,
    aheadIsMore: standing.aheadIsMore,
    advisory,
    queueLastAskedAt: standing.queueLastAskedAt,
    queueParked: standing.queueParked,
    askers: standing.askers,
    leaseId: standing.leaseId,
    leaseExpiry: standing.leaseExpiry,
    executionDeadline: standing.executionDeadline,
    attemptsLeft: standing.attemptsLeft,
    facts: [
      ...facts,
      workersNow([own, ...relatives], tell),
      budgetFact(budget, attempts, standing, permanent),
      ...backoffFact(created),
      ...poisonFact(budget, attempts, standing),
      ...(advisory ? [] : [asOfFact(standing)]),
      ...(facts.some(isAdvisory) ? [ADVISORY] : []),
    ],
    next,
  };
}

/** By what it rests on: its words may quote a reason, and anybody may have written that. */
const isAdvisory = ({ records }: Fact): boolean => records.length === 0;
const ADVISORY: Fact = {
  text:
    'Where it says (advisory), the coordinator tells it from memory, as it has been since its ' +
    'start: no record of the log holds it.',
  records: [],
};

const asOfFact = ({ asOf, state }: Standing): Fact => ({
  text:
    `This is read from the log alone, as of record ${asOf}` +
    (state === 'WAITING' ? ': who asks for tasks is not in it.' : '.'),
  records: [asOf],
});

function tellNow(situation: Situation): Told {
  switch (situation.standing.state) {
    case 'WAITING':
      return waitingNow(situation);
    case 'LEASED':
      return leasedNow(situation);
    default:
      return overNow(situation);
  }
}
