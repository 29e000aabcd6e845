// Owns the sentences about a task that is over: that its state is final, whether a worker may
// still be at work after a kill, and how the task's content can run again or does.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { ExplainedAttempt, Fact } from './explanation.ts';
import { nameText, reasonText, recordsOf } from './names.ts';
import type { Situation, Told } from './situation.ts';

export function overNow({ created, attempts, standing, over }: Situation): Told {
  const { state, redrivenAs } = standing;
  const last = attempts.at(-1);
  const records = recordsOf(over?.seq);
  const killed = last?.ended === 'killed' ? [killedWhileHeld(last, redrivenAs)] : [];
  const is = { text: `It is ${state}, which is final.`, records };
  if (state === 'COMPLETED') {
    return { facts: [is], next: { text: 'Nothing: COMPLETED is final.', records } };
  }
  if (redrivenAs !== undefined) {
    const heir = formatTaskId(redrivenAs);
    const redriven = {
      text: `It is ${state}, which is final, and was redriven.`,
      records: [...records, redrivenAs],
    };
    const text = `Nothing: ${state} is final. Its content was redriven as task ${heir}.`;
    return { facts: [redriven, ...killed], next: { text, records: [redrivenAs] } };
  }
  const text =
    `Nothing by itself: ${state} is final. \`leasehold redrive ${formatTaskId(created.seq)}\` ` +
    'would start a new task with its content.';
  return { facts: [is, ...killed], next: { text, records } };
}

function killedWhileHeld(last: ExplainedAttempt, redrivenAs: number | undefined): Fact {
  const lease = formatLeaseId(last.leaseId);
  const records = recordsOf(last.leaseId, last.endRecord, last.report?.record);
  if (last.report !== undefined) {
    const late = 'its report came later and was discarded';
    return { text: `${lease} was held when the task was killed; ${late}.`, records };
  }
  const beside =
    redrivenAs === undefined ? '' : `, perhaps beside the redriven ${formatTaskId(redrivenAs)}`;
  const text =
    `${lease} was held when the task was killed (${reasonText(last.reason ?? '')}); its worker ` +
    `${nameText(last.workerId)} may not know yet, and may be at work still${beside}.`;
  return { text, records };
}
