// Owns the reason why a task waited from the time it was eligible until its grant: the coordinator
// was down, other tasks came first, the worker was full, or no worker asked. The reason is read
// from the records of other tasks. No record holds a lease request that got nothing, so such a
// request is inferred only where the order of the grants leaves no doubt.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { Between, ExplainedAttempt, ExplainedStart, Wait } from './explanation.ts';
import { durationAtMostText, durationText, nameText, plural, type Teller } from './names.ts';

/** A wait for a worker that is shorter than this is not worth a sentence. */
const WAIT_TOLD_MS = 1_000;
/** A lease that ended so shortly before the grant may have made the room for it. */
const FREED_MS = 1_000;

/** @returns what lay in the attempt's wait, or undefined when it was granted at once. */
export function waitOf(
  attempt: ExplainedAttempt,
  starts: readonly ExplainedStart[],
  between: Between | undefined,
): Wait | undefined {
  const { eligibleAt, grantedAt, waitingRecord, leaseId } = attempt;
  const within = starts.filter(({ seq }) => seq > waitingRecord && seq < leaseId);
  const down = within.map(({ at, lastAliveAt, restored }) => {
    const from = lastAliveAt ?? restored?.at ?? eligibleAt;
    return Math.max(0, Math.min(at, grantedAt) - Math.max(from, eligibleAt));
  });
  const downMs = down.reduce((sum, ms) => sum + ms, 0);
  const durationMs = grantedAt - eligibleAt;
  if (durationMs < WAIT_TOLD_MS && downMs === 0) return undefined;
  const isTold = ({ restored }: ExplainedStart, index: number): boolean =>
    restored !== undefined || (down[index] ?? 0) > 0;
  const seqs = within.filter(isTold).map(({ seq }) => seq);
  const isLost = within.some(({ restored }) => restored !== undefined);
  return { durationMs, starts: seqs, downMs, between: isLost ? undefined : between, isLost };
}

/** @returns sentences, and the records that they rest on besides the attempt's own. */
export function waitTexts(
  attempt: ExplainedAttempt,
  queue: string,
  tell: Teller,
): { readonly texts: string[]; readonly records: number[] } {
  const { wait } = attempt;
  if (wait === undefined) return { texts: [], records: [] };
  const { between, durationMs } = wait;
  const length = durationText(durationMs);
  const texts = [
    `It had been eligible since ${tell.at(attempt.eligibleAt)} and waited ${length} for a worker.`,
    ...downTexts(wait),
  ];
  const records = [...wait.starts];
  if (durationMs < WAIT_TOLD_MS) return { texts, records };
  if (between === undefined && wait.isLost !== true) {
    texts.push(
      'What else lay in that time is not told: the records of other tasks in between are too ' +
        'many, or removed.',
    );
  } else if (between !== undefined) {
    texts.push(...betweenTexts(attempt, between, queue, records));
  }
  return { texts, records };
}

function downTexts({ starts, downMs, isLost }: Wait): string[] {
  if (starts.length === 0) return [];
  const records = starts.length === 1 ? `record ${starts[0]}` : `records ${starts.join(', ')}`;
  if (isLost === true) {
    return [
      `For ${durationAtMostText(downMs)} of that at most the coordinator was down, or what it ` +
        `recorded is lost: the log was restored from a copy meanwhile (${records}).`,
    ];
  }
  return [
    `For ${durationAtMostText(downMs)} of that at most the coordinator was down ` +
      `(it started again with ${records}).`,
  ];
}

function betweenTexts(
  { workerId, grantedAt, wait }: ExplainedAttempt,
  { grants, firstGrant, lastGrant, deaths, grantsElsewhere, freed }: Between,
  queue: string,
  records: number[],
): string[] {
  const texts: string[] = [];
  const up = (wait?.downMs ?? 0) > 0 ? ' while the coordinator was up' : '';
  if (grants > 0) {
    const were = grants === 1 ? 'was' : 'were';
    const which =
      grants === 1 ? `record ${firstGrant}` : `records ${firstGrant} to ${lastGrant} among others`;
    texts.push(
      `Meanwhile ${plural(grants, 'other task')} of queue ${queue} ${were} granted (${which}), ` +
        'for a queue is leased in the order in which its tasks became eligible.',
    );
    if (firstGrant !== undefined) records.push(firstGrant);
    if (lastGrant !== undefined) records.push(lastGrant);
  } else if (deaths > 0) {
    texts.push(
      `No task of queue ${queue} was granted meanwhile, but ${deaths} ended as DEAD: by a kill, ` +
        'or because a lease request came to it and the poison rule ended it.',
    );
  } else {
    const other =
      grantsElsewhere === 0 ? '' : ', or who did got an older task of another queue it asked for';
    texts.push(
      `No task of queue ${queue} was granted meanwhile, so no worker that had room asked` +
        `${up}${other}.`,
    );
  }
  if (freed !== undefined && grantedAt - freed.at < FREED_MS) {
    const ago = grantedAt === freed.at ? 'right' : durationText(grantedAt - freed.at);
    texts.push(
      `${formatLeaseId(freed.leaseId)} of ${formatTaskId(freed.taskId)}, held by worker ` +
        `${nameText(workerId)} too, ended ${ago} before this grant (record ${freed.record}): ` +
        'until then that worker may have held as many leases as its capacity.',
    );
    records.push(freed.record);
  }
  return texts;
}
