// Owns the last part of an explanation: what is true of the task now and what will change it. What
// is advisory (when a worker asked) is said to be; what the coordinator does not know is not said.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { TaskCreated } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { askersText } from './askers.ts';
import type { ExplainedAttempt, ExplainedNow } from './explanation.ts';
import { durationText, leaseText, plural, reasonText, type Teller } from './names.ts';

export interface Situation {
  readonly created: TaskCreated;
  readonly attempts: readonly ExplainedAttempt[];
  readonly standing: Standing;
  readonly tell: Teller;
  /** The coordinator's newest start, when the task is older than it. */
  readonly startedAt?: number | undefined;
  /** False: read from a log alone, which does not tell who asks for tasks. */
  readonly advisory: boolean;
}

export function explainNow(situation: Situation): ExplainedNow {
  const { standing } = situation;
  const { facts, next } = tellNow(situation);
  return {
    state: standing.state,
    at: standing.now,
    eligibleAt: standing.eligibleAt,
    ahead: standing.ahead,
    aheadIsMore: standing.aheadIsMore,
    advisory: situation.advisory,
    queueLastAskedAt: standing.queueLastAskedAt,
    queueParked: standing.queueParked,
    leaseId: standing.leaseId,
    leaseExpiry: standing.leaseExpiry,
    executionDeadline: standing.executionDeadline,
    attemptsLeft: standing.attemptsLeft,
    facts: situation.advisory ? facts : [...facts, asOfText(standing)],
    next,
  };
}

const asOfText = ({ asOf, state }: Standing): string =>
  `This is read from the log alone, as of record ${asOf}` +
  (state === 'WAITING' ? ': who asks for tasks is not in it.' : '.');

interface Told {
  readonly facts: readonly string[];
  readonly next: string;
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

function waiting(situation: Situation): Told {
  const { standing, startedAt, tell } = situation;
  const { now, eligibleAt = now, queue } = standing;
  if (now < eligibleAt) {
    const left = durationText(eligibleAt - now);
    return {
      facts: [`It is WAITING and ${whyNotEligible(situation)}.`, ...budget(situation)],
      next:
        `At ${tell.at(eligibleAt)}, in ${left}, it becomes eligible by itself; from then on a ` +
        `lease request for queue ${queue} can get it.`,
    };
  }
  const since = durationText(now - eligibleAt);
  return {
    facts: [
      `It is WAITING and eligible since ${tell.at(eligibleAt)}, for ${since}.`,
      place(standing),
      ...(situation.advisory ? [askersText(standing, eligibleAt, startedAt, tell)] : []),
      ...(standing.poisonAtNextGrant ? [] : budget(situation)),
    ],
    next: nextGrant(situation),
  };
}

function whyNotEligible({ created, attempts, standing, tell }: Situation): string {
  const until = tell.at(standing.eligibleAt ?? standing.now);
  const last = attempts.at(-1);
  if (last === undefined) {
    return `not eligible before ${until}: it was submitted with that delay (record ${created.seq})`;
  }
  const what = last.ended === 'released' ? 'was given back' : 'failed';
  return (
    `not eligible before ${until}: attempt ${last.attempt} ${what}, and its backoff lasts until ` +
    `then (record ${last.endRecord})`
  );
}

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
    `${request} for queue ${queue} by a worker with room starts attempt ${attempt}; ` +
    `nothing else will.`
  );
}

function leased(situation: Situation): Told {
  const { attempts, standing, tell } = situation;
  const last = attempts.at(-1);
  const expiry = standing.leaseExpiry ?? standing.now;
  const cap = standing.executionDeadline ?? expiry;
  const holder = last === undefined ? 'a lease' : leaseText(last);
  const left = durationText(Math.max(0, expiry - standing.now));
  const room =
    expiry >= cap
      ? 'It is at the execution window: no heartbeat moves that time.'
      : `Each heartbeat moves that time, to ${tell.at(cap)} at the latest (execution window).`;
  return {
    facts: [
      `It is LEASED: ${holder} (attempt ${last?.attempt ?? '?'}) is valid until ` +
        `${tell.at(expiry)}, for ${left}.`,
      room,
      ...budget(situation),
    ],
    next:
      `A complete or fail under that lease before ${tell.at(expiry)} ends the attempt; at that ` +
      `time the lease runs out by itself and the task is WAITING again.`,
  };
}

/** How many attempts a failure may still be followed by; expiry itself never fails a task. */
function budget({ attempts, standing, created }: Situation): string[] {
  const lost = attempts.filter(({ ended }) => ended === 'expired').length;
  const { maxRetries } = created.retryPolicy;
  const spared =
    standing.attemptsLeft === 0 ? '' : ', but only a reported failure can make it FAILED';
  const counted =
    lost === 0 ? '' : `; ${plural(lost, 'attempt')} lost to expiry counted too${spared}`;
  const left =
    standing.attemptsLeft === 0
      ? 'No retry is left: the next accepted failure makes it FAILED'
      : `${plural(standing.attemptsLeft, 'attempt')} left of ${maxRetries + 1}`;
  return [`${left} (max_retries ${maxRetries}${counted}).`];
}

function over({ created, attempts, standing }: Situation): Told {
  const { state, redrivenAs } = standing;
  const last = attempts.at(-1);
  const held = last?.ended === 'killed' ? [killedWhileHeld(last, redrivenAs)] : [];
  if (state === 'COMPLETED') {
    return { facts: ['It is COMPLETED.'], next: 'Nothing: COMPLETED is final.' };
  }
  if (redrivenAs !== undefined) {
    const heir = formatTaskId(redrivenAs);
    const next = `Nothing: ${state} is final. Its content goes on as task ${heir}.`;
    return { facts: [`It is ${state} and was redriven.`, ...held], next };
  }
  return {
    facts: [`It is ${state}.`, ...held],
    next:
      `Nothing by itself: ${state} is final. \`redrive ${formatTaskId(created.seq)}\` would ` +
      `start a new task with its content.`,
  };
}

function killedWhileHeld(last: ExplainedAttempt, redrivenAs: number | undefined): string {
  const lease = formatLeaseId(last.leaseId);
  if (last.report !== undefined) {
    return `${lease} was held when the task was killed; its report came later and was discarded.`;
  }
  const beside =
    redrivenAs === undefined ? '' : `, perhaps beside the redriven ${formatTaskId(redrivenAs)}`;
  return (
    `${lease} was held when the task was killed (${reasonText(last.reason ?? '')}); its worker ` +
    `may not know yet${beside}.`
  );
}
