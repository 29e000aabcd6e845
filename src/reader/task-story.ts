// Owns the reading of what explain needs: the task's records, and the starts of the coordinator
// that fall into its history. It bounds how much it reads; what was left out is said.

import type { StartRead, TaskStory } from '../explain/explain-task.ts';
import { LogCorrupt, type LogReader } from '../log/log.ts';
import type { LogRecord } from '../model/records.ts';
import type { Standing } from '../model/response.ts';
import { taskRecordsBackward } from './task-records.ts';

/** Of each kind, so that a lease renewed for days leaves room for what happened before it. */
const RENEWALS_MAX = 20_000;
const OTHERS_MAX = 20_000;

/** @throws LogCorrupt when the log does not hold what the standing says. */
export function readStory(log: Pick<LogReader, 'get'>, standing: Standing): TaskStory {
  const get = (seq: number): LogRecord | undefined => log.get(seq);
  const found: LogRecord[] = [];
  let renewals = 0;
  let leftOut = 0;
  for (const record of taskRecordsBackward(get, standing, () => renewals < RENEWALS_MAX)) {
    if (record.type === 'LeaseExtended') renewals += 1;
    else if (found.length - renewals === OTHERS_MAX) {
      leftOut += 1;
      break;
    }
    found.push(record);
  }
  const records = found.toSorted((a, b) => a.seq - b.seq);
  if (records[0]?.seq !== standing.taskId) {
    const created = get(standing.taskId);
    if (created?.type !== 'TaskCreated') throw new LogCorrupt(standing.taskId, 'missing');
    records.unshift(created);
  }
  return { records, starts: startsOf(get, standing.starts), standing, leftOut };
}

function startsOf(
  get: (seq: number) => LogRecord | undefined,
  starts: readonly number[],
): StartRead[] {
  return starts.flatMap((seq) => {
    const record = get(seq);
    if (record?.type !== 'CoordinatorStarted') return [];
    return [{ record, lastAliveAt: get(seq - 1)?.at }];
  });
}
