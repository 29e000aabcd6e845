// Owns the sentences about a task that waits: since when and why, its place in the queue, which
// workers request leases of the queue, and which event starts the next attempt.

import type { Standing } from '../model/response.ts';
import { askersText } from './askers.ts';
import type { ExplainedStart, Fact } from './explanation.ts';
import { durationAtMostText, durationText, plural, reasonText, recordsOf } from './names.ts';
import type { Situation, Told } from './situation.ts';

export function waitingNow(situation: Situation): Told {
  const { standing, starts, tell, advisory } = situation;
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
  const asked = advisory ? [askersText(standing, eligibleAt, starts.at(-1)?.at, tell)] : [];
  return {
    facts: [
      eligibleFact(situation, eligibleAt),
      { text: place(standing), records },
      ...asked.map((text) => ({ text, records: [] })),
    ],
    next: { text: nextGrant(situation), records },
  };
}

/** The record that made the task WAITING. */
const madeWaiting = ({ attempts, created }: Situation): number =>
  attempts.at(-1)?.endRecord ?? created.seq;

/** How long it waits, and for how much of that there was no coordinator to ask. */
function eligibleFact(situation: Situation, eligibleAt: number): Fact {
  const { standing, starts, tell } = situation;
  const waitingRecord = madeWaiting(situation);
  const within = starts.filter(({ seq }) => seq > waitingRecord);
  const downMs = within.reduce((sum, start) => sum + downAfter(start, eligibleAt), 0);
  const since = durationText(standing.now - eligibleAt);
  const down =
    downMs === 0
      ? ''
      : ` For ${durationAtMostText(downMs)} of that at most the coordinator was down.`;
  return {
    text: `It is WAITING and eligible since ${tell.at(eligibleAt)}, for ${since}.${down}`,
    records: recordsOf(waitingRecord, ...(downMs === 0 ? [] : within.map(({ seq }) => seq))),
  };
}

const downAfter = ({ at, lastAliveAt = at }: ExplainedStart, from: number): number =>
  Math.max(0, at - Math.max(lastAliveAt, from));

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
  if (ahead === undefined) {
    return (
      `How many tasks of queue ${queue} were ahead of it cannot be told: tasks of that time were ` +
      'forgotten later, and their history is removed.'
    );
  }
  if (ahead === 0) return `It is the next one of queue ${queue}.`;
  if (aheadIsMore) return `More than ${ahead} tasks of queue ${queue} are ahead of it.`;
  const are = ahead === 1 ? 'is' : 'are';
  return `${plural(ahead, 'task')} of queue ${queue} ${are} ahead of it.`;
}

function nextGrant({ standing, attempts }: Situation): string {
  if (standing.poisonAtNextGrant) {
    return (
      'The next lease request that reaches it ends it as DEAD by the poison rule: too many of ' +
      'its leases in a row ran out without a report.'
    );
  }
  const attempt = (attempts.at(-1)?.attempt ?? 0) + 1;
  const { ahead, queue, queueParked = 0 } = standing;
  const request = ahead === 0 ? 'A lease request' : 'Once none is ahead of it, a lease request';
  const waiting =
    queueParked === 0
      ? ''
      : ' A request that waits already gets it as soon as its worker has room, which is when one ' +
        'of the leases that the worker holds ends.';
  return (
    `${request} for queue ${queue} by a worker with room starts attempt ${attempt}, whenever one ` +
    `comes.${waiting} Nothing else will, and there is no time by which it must.`
  );
}
