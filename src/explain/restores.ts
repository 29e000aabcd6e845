// Owns what a restore takes from a story. A log that was restored from a copy lacks what was
// recorded after the copy was made, and a task may have been given out, reported and ended in that
// time. So what counts the records that are left says that there may have been more.

import type { ExplainedStart, Restored, Statement } from './explanation.ts';
import type { Teller } from './names.ts';

/** Starts on a restored log while the task was not over: their records. */
export const restoresIn = (
  starts: readonly ExplainedStart[],
  endRecord = Number.POSITIVE_INFINITY,
): number[] =>
  starts
    .filter(({ seq, restored }) => restored !== undefined && seq < endRecord)
    .map(({ seq }) => seq);

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

export const WORKER_LOST = 'whoever got the task in the time that the restore lost';

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
