// Owns what is said of the workers that ask for a waiting task's queue. The coordinator keeps it in
// memory since its start and in no record, so each sentence says that it is advisory.

import type { Standing } from '../model/response.ts';
import { durationText, listText, plural, type Teller } from './names.ts';

const CAPACITY = 'holds as many leases as the capacity that it declared';

/**
 * @param eligibleAt since when a worker could have had the task
 * @param startedAt the coordinator's newest start, when the task is older than it
 */
export function askersText(
  standing: Standing,
  eligibleAt: number,
  startedAt: number | undefined,
  tell: Teller,
): string {
  const { queueLastAskedAt, queueParked = 0, queue, ahead, now } = standing;
  if (queueLastAskedAt === undefined) return nobodyText(standing, startedAt, tell);
  if (queueParked > 0) {
    const [requests, whose] =
      queueParked === 1 ? ['is', 'its worker'] : ['are', 'each of their workers'];
    return (
      `${plural(queueParked, 'lease request')} for queue ${queue} ${requests} parked now and ` +
      `not served (advisory): ${whose} ${CAPACITY}.`
    );
  }
  const ago = durationText(Math.max(0, now - queueLastAskedAt));
  const when = `A worker last asked for queue ${queue} at ${tell.at(queueLastAskedAt)}, ${ago} ago`;
  if (queueLastAskedAt < eligibleAt) {
    return `${when}, before the task was eligible, and none waits for it now (advisory).`;
  }
  if (ahead === 0) {
    return (
      `${when}, and did not get this task (advisory): it got another one and asked for no more, ` +
      `or it ${CAPACITY}.`
    );
  }
  return `${when} (advisory).`;
}

/** The registry is soft state: it knows who asked since the start and nothing before. */
function nobodyText(
  { queue, queuesAskedFor = [], now }: Standing,
  startedAt: number | undefined,
  tell: Teller,
): string {
  const since =
    startedAt === undefined
      ? ''
      : ` at ${tell.at(startedAt)}, ${durationText(Math.max(0, now - startedAt))} ago`;
  const others =
    queuesAskedFor.length === 0
      ? 'nor for any other: is a worker running?'
      : `but for ${listText(queuesAskedFor)}: does a worker for it run, and is ` +
        'the name spelt as the workers spell it?';
  return (
    `No worker has asked for queue ${queue} since the coordinator's start${since} (advisory), ` +
    others
  );
}
