// Owns what a restore takes from a story. A log that was restored from a copy lacks what was
// recorded after the copy was made, and a task may have been given out, reported and ended in that
// time. So what counts the records that are left says that there may have been more.

import type { LogRecord } from '../model/records.ts';
import type { Restored, Statement } from './explanation.ts';
import { recordsOf, type Teller } from './names.ts';

/** Restores, by the records of the starts, that took from what is known of a task. */
export interface Lost {
  /** While the task was not over: it may have been given out, reported and ended. */
  readonly restores: readonly number[];
  /** After it had failed or was killed: it may have been redriven, as a task that is lost. */
  readonly redrivesLost: readonly number[];
}

/**
 * @param restored starts on a restored log since the task's creation
 * @param over what ended the task, by the records that are left
 */
export function lostOf(
  restored: readonly number[],
  over: Pick<LogRecord, 'seq' | 'type'> | undefined,
): Lost {
  const end = over?.seq ?? Number.POSITIVE_INFINITY;
  const after = over?.type === 'TaskCompleted' ? [] : restored.filter((seq) => seq > end);
  return { restores: restored.filter((seq) => seq < end), redrivesLost: after };
}

/** All restores in whose lost time these tasks, or tasks with their content, may have run. */
export const restoresOf = (runs: readonly Lost[]): number[] =>
  recordsOf(...runs.flatMap(({ restores, redrivesLost }) => [...restores, ...redrivesLost]));

/** A sentence that counts what the log has. */
export function byWhatIsLeft(restores: readonly number[], text: string): string {
  if (restores.length === 0) return text;
  const told = text.replace(/^So /, '');
  return `By the records that are left, ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
}

export const SUMMARY_LACKS =
  ' The log was restored from a copy meanwhile, so a part of the story may be lost.';

export const EFFECT_LACKS =
  'What was done in the time that the restore lost comes on top, and nobody can tell how often ' +
  'that was.';

/** @param name `the task`, or what other task with its content */
export const workerLost = (name: string): string =>
  `whoever got ${name} in the time that the restore lost`;

export const overlapLacks = (restores: readonly number[]): Statement[] =>
  restores.length === 0
    ? []
    : [
        {
          topic: 'overlap',
          text:
            'Leases of the time that the restore lost are not in this log. Whether the work ' +
            'under one of them overlapped with that under a later one is unknown.',
          records: restores,
        },
      ];

/** What the copy holds, as the end of the sentence that tells of the start. */
export const copyClause = ({ after, at }: Restored, tell: Teller): string =>
  `, on a log that was restored from a copy. The copy ends with record ${after}` +
  `${at === undefined ? '' : ` of ${tell.at(at)}`}: what was recorded after that is lost`;
