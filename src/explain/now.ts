// Owns the last part of an explanation: what is true of the task now and what will change it. What
// is advisory (when a worker asked) is said to be; what the coordinator does not know is not said.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { askersText } from './askers.ts';
import { workersNow } from './at-once.ts';
import { budgetFact, poisonFact } from './budget.ts';
import type { Budget, ExplainedAttempt, ExplainedNow, Fact } from './explanation.ts';
import { durationText, leaseText, nameText, reasonText, recordsOf, type Teller } from './names.ts';
import type { EndRecord } from './summary.ts';

export interface Situation {
  readonly created: TaskCreated;
  readonly attempts: readonly ExplainedAttempt[];
  readonly budget: Budget;
  readonly over: EndRecord | undefined;
  readonly standing: Standing;
  readonly tell: Teller;
  /** The coordinator's newest start, when the task is older than it. */
  readonly startedAt?: number | undefined;
  /** False: read from a log alone, which does not tell who asks for tasks. */
  readonly advisory: boolean;
}

export function explainNow(situation: Situation): ExplainedNow {
  const { standing, attempts, budget, over, tell, advisory } = situation;
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
      workersNow(attempts, tell),
      budgetFact(budget, attempts, standing, permanent),
      ...poisonFact(budget, attempts, standing),
      ...(advisory ? [] : [asOfFact(standing)]),
    ],
    next,
  };
}

const asOfFact = ({ asOf, state }: Standing): Fact => ({
  text:
    `This is read from the log alone, as of record ${asOf}` +
    (state === 'WAITING' ? ': who asks for tasks is not in it.' : '.'),
  records: [asOf],
});

interface Told {
  readonly facts: readonly Fact[];
  readonly next: Fact;
}

function tellNow(situation: Situation): Told {
  switch (situation.standing.state) {
    case 'WAITING':
      return waiting(situation);
    case 'LEASED':
      return leased(situation);
    default:
      return over(situation);
  }
}

/** The record that made the task WAITING. */
const madeWaiting = ({ attempts, created }: Situation): number =>
  attempts.at(-1)?.endRecord ?? created.seq;

function waiting(situation: Situation): Told {
  const { standing, startedAt, tell, advisory } = situation;
  const { now, eligibleAt = now, queue } = standing;
  const records = [madeWaiting(situation)];
  if (now < eligibleAt) {
    const left = durationText(eligibleAt - now);
    return {
      facts: [{ text: `It is WAITING and ${whyNotEligible(situation)}.`, records }],
      next: {
        text:
          `At ${tell.at(eligibleAt)}, in ${left}, it becomes eligible by itself; from then on a ` +
          `lease request for queue ${queue} can get it.`,
        records,
      },
    };
  }
  const since = durationText(now - eligibleAt);
  const asked = advisory ? [askersText(standing, eligibleAt, startedAt, tell)] : [];
  return {
    facts: [
      { text: `It is WAITING and eligible since ${tell.at(eligibleAt)}, for ${since}.`, records },
      { text: place(standing), records },
      ...asked.map((text) => ({ text, records: [] })),
    ],
    next: { text: nextGrant(situation), records },
  };
}

function whyNotEligible({ attempts, standing, tell }: Situation): string {
  const until = tell.at(standing.eligibleAt ?? standing.now);
  const last = attempts.at(-1);
  if (last === undefined) return `not eligible before ${until}: it was submitted with that delay`;
  const what = last.ended === 'released' ? 'was given back' : 'failed';
  return (
    `not eligible before ${until}: attempt ${last.attempt} ${what} ` +
    `(${reasonText(last.reason ?? '')}), and its backoff lasts until then`
  );
}

/** The order of the queue is derived from the log as a whole, not from this task's records. */
function place({ ahead, aheadIsMore, queue }: Standing): string {
  if (ahead === undefined) return `It is in queue ${queue}.`;
  if (ahead === 0) return `It is the next one of queue ${queue}.`;
  const count = aheadIsMore ? `More than ${ahead}` : String(ahead);
  return `${count} of queue ${queue} ${ahead === 1 && !aheadIsMore ? 'is' : 'are'} ahead of it.`;
}

function nextGrant({ standing, attempts }: Situation): string {
  if (standing.poisonAtNextGrant) {
    return (
      'The next lease request that reaches it ends it as DEAD by the poison rule: too many of ' +
      'its leases in a row ran out without a report.'
    );
  }
  const attempt = (attempts.at(-1)?.attempt ?? 0) + 1;
  const { ahead = 0, queue } = standing;
  const request = ahead === 0 ? 'A lease request' : 'Once none is ahead of it, a lease request';
  return (
    `${request} for queue ${queue} by a worker with room starts attempt ${attempt}, whenever one ` +
    'comes. Nothing else will, and there is no time by which it must.'
  );
}

function leased(situation: Situation): Told {
  const { attempts, standing, tell } = situation;
  const last = attempts.at(-1);
  const expiry = standing.leaseExpiry ?? standing.now;
  const cap = standing.executionDeadline ?? expiry;
  const holder = last === undefined ? 'a lease' : leaseText(last);
  const left = durationText(Math.max(0, expiry - standing.now));
  const records = recordsOf(last?.leaseId, last?.lastHeartbeat?.record);
  const room =
    expiry >= cap
      ? 'It is at the execution window: no heartbeat moves that time.'
      : `Each heartbeat moves that time, to ${tell.at(cap)} at the latest (execution window).`;
  return {
    facts: [
      {
        text:
          `It is LEASED: ${holder} (attempt ${last?.attempt ?? '?'}) is valid until ` +
          `${tell.at(expiry)}, for ${left}. ${room}`,
        records,
      },
    ],
    next: {
      text:
        `A complete or fail under that lease before ${tell.at(expiry)} ends the attempt; at that ` +
        'time the lease runs out by itself and the task is WAITING again.',
      records,
    },
  };
}

function over({ created, attempts, standing, over: end }: Situation): Told {
  const { state, redrivenAs } = standing;
  const last = attempts.at(-1);
  const records = recordsOf(end?.seq);
  const killed = last?.ended === 'killed' ? [killedWhileHeld(last, redrivenAs)] : [];
  const is = { text: `It is ${state}, which is final.`, records };
  if (state === 'COMPLETED') {
    return { facts: [is], next: { text: 'Nothing: COMPLETED is final.', records } };
  }
  if (redrivenAs !== undefined) {
    const heir = formatTaskId(redrivenAs);
    return {
      facts: [
        { text: `It is ${state} and was redriven.`, records: [...records, redrivenAs] },
        ...killed,
      ],
      next: {
        text: `Nothing: ${state} is final. Its content goes on as task ${heir}.`,
        records: [redrivenAs],
      },
    };
  }
  return {
    facts: [is, ...killed],
    next: {
      text:
        `Nothing by itself: ${state} is final. ` +
        `\`leasehold redrive ${formatTaskId(created.seq)}\` ` +
        'would start a new task with its content.',
      records,
    },
  };
}

function killedWhileHeld(last: ExplainedAttempt, redrivenAs: number | undefined): Fact {
  const lease = formatLeaseId(last.leaseId);
  const records = recordsOf(last.leaseId, last.endRecord, last.report?.record);
  if (last.report !== undefined) {
    const late = 'its report came later and was discarded';
    const text = `${lease} was held when the task was killed; ${late}.`;
    return { text, records };
  }
  const beside =
    redrivenAs === undefined ? '' : `, perhaps beside the redriven ${formatTaskId(redrivenAs)}`;
  const text =
    `${lease} was held when the task was killed (${reasonText(last.reason ?? '')}); its worker ` +
    `${nameText(last.workerId)} may not know yet, and may be at work still${beside}.`;
  return { text, records };
}
