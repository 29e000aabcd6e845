// Owns the reading of what explain needs: the task's records, the coordinator's starts during its
// history, its relatives by redrive, and the other tasks' grants during its waits. It reads a
// bounded number of records, and reports how many it left out.

import type { StartRead, TaskStory } from '../explain/explain-task.ts';
import type { RelativeStory } from '../explain/relatives.ts';
import { LogCorrupt, type LogReader } from '../log/log.ts';
import type { LogRecord } from '../model/records.ts';
import type { Relative, Standing } from '../model/response.ts';
import { queueNames } from './queue-names.ts';
import { type ChainEnds, taskRecordsBackward } from './task-records.ts';
import { readWaits } from './wait-records.ts';

/** Of each kind, so that a lease renewed for days leaves room for what happened before it. */
const RENEWALS_MAX = 20_000;
const OTHERS_MAX = 20_000;
/** Of a relative: its attempts and how it ended are told, not its heartbeats. */
const RELATIVE_MAX = 1_000;
/** Before a start, so many removed records are passed over. */
const REMOVED_MAX = 200;

type Get = (seq: number) => LogRecord | undefined;
type StoryLog = Pick<LogReader, 'get' | 'skippedBefore'>;

/** @throws LogCorrupt when the log does not hold what the standing says. */
export function readStory(log: StoryLog, standing: Standing): TaskStory {
  const get: Get = (seq) => log.get(seq);
  const { records, leftOut } = readChain(get, standing, RENEWALS_MAX, OTHERS_MAX);
  if (records[0]?.seq !== standing.taskId) {
    const created = get(standing.taskId);
    if (created?.type !== 'TaskCreated') throw new LogCorrupt(standing.taskId, 'missing');
    records.unshift(created);
  }
  return {
    records,
    starts: startsOf(log, [...standing.starts, ...restoredBeside(log, standing)]),
    standing,
    leftOut,
    between: readWaits(get, queueNames(log), records),
    relatives: (standing.relatives ?? []).flatMap((relative) => readRelative(log, relative)),
  };
}

function readChain(get: Get, ends: ChainEnds, renewalsMax: number, othersMax: number) {
  const found: LogRecord[] = [];
  let renewals = 0;
  let leftOut = 0;
  for (const record of taskRecordsBackward(get, ends, () => renewals < renewalsMax)) {
    if (record.type === 'LeaseExtended') renewals += 1;
    else if (found.length - renewals === othersMax) {
      leftOut += 1;
      break;
    }
    found.push(record);
  }
  return { records: found.toSorted((a, b) => a.seq - b.seq), leftOut };
}

/** A relative whose first record is gone is not told of. */
function readRelative(log: StoryLog, relative: Relative): RelativeStory[] {
  const { role, taskId, state, starts } = relative;
  const { records } = readChain((seq) => log.get(seq), relative, RELATIVE_MAX, RELATIVE_MAX);
  const restores = starts.filter((seq) => log.skippedBefore(seq) > 0);
  return records[0]?.seq === taskId ? [{ role, taskId, state, records, restores }] : [];
}

/** Starts that no story lists, but for those on a restored log. */
const restoredBeside = (log: StoryLog, { startsBeside = [] }: Standing): number[] =>
  startsBeside.filter((seq) => log.skippedBefore(seq) > 0);

function startsOf(log: StoryLog, starts: readonly number[]): StartRead[] {
  const get: Get = (seq) => log.get(seq);
  const ascending = starts.toSorted((a, b) => a - b);
  return ascending.flatMap((seq): StartRead[] => {
    const record = get(seq);
    if (record?.type !== 'CoordinatorStarted') return [];
    const skipped = log.skippedBefore(seq);
    if (skipped === 0) return [{ record, lastAliveAt: aliveBefore(get, seq) }];
    const after = seq - skipped - 1;
    return [{ record, restored: { after, at: aliveBefore(get, after + 1) } }];
  });
}

/** The time of the newest record before a start; undefined when too many were removed. */
function aliveBefore(get: Get, start: number): number | undefined {
  for (let seq = start - 1; seq > Math.max(0, start - REMOVED_MAX); seq -= 1) {
    const record = get(seq);
    if (record !== undefined) return record.at;
  }
  return undefined;
}
