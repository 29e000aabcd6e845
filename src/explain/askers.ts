// Owns the sentences about the workers that request leases of a waiting task's queue. The
// coordinator keeps these requests in memory only, since its start, and no record holds them. So
// each sentence says that it is advisory.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { Standing, WaitingAsker } from '../model/response.ts';
import { durationText, listText, nameText, plural, type Teller } from './names.ts';

const CAPACITY = 'holds as many leases as the capacity that it declared';

/**
 * @param eligibleAt the time from which a worker could have leased the task
 * @param startedAt the coordinator's newest start, when the task is older than that start
 */
export function askersText(
  standing: Standing,
  eligibleAt: number,
  startedAt: number | undefined,
  tell: Teller,
): string {
  const { queueLastAskedAt, queueParked = 0, queue, ahead, now } = standing;
  if (queueLastAskedAt === undefined) return nobodyText(standing, startedAt, tell);
  if (queueParked > 0) return waitingText(standing, queueParked, tell);
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

/** Requests that wait while a task is eligible: their workers have no room. */
function waitingText({ queue, askers = [] }: Standing, parked: number, tell: Teller): string {
  const [requests, wait] = parked === 1 ? ['lease request', 'waits'] : ['lease requests', 'wait'];
  const head = `${parked} ${requests} for queue ${queue} ${wait} now, not served (advisory)`;
  const full = askers.filter(({ capacity, held }) => capacity !== undefined && held >= capacity);
  if (full.length === 0) {
    const whose = parked === 1 ? 'its worker' : 'each of their workers';
    return `${head}: ${whose} ${CAPACITY}.`;
  }
  const others = parked - full.length;
  const more = others === 0 ? '' : `; ${plural(others, 'more request')} of others or the same`;
  return `${head}: ${full.map((one) => holdingText(one, tell)).join('; ')}${more}.`;
}

function holdingText({ workerId, capacity, held, leases }: WaitingAsker, tell: Teller): string {
  const names = leases.map(
    ({ leaseId, taskId, leaseExpiry }) =>
      `${formatLeaseId(leaseId)} of ${formatTaskId(taskId)}, valid until ${tell.at(leaseExpiry)}`,
  );
  const more = held > leases.length ? [`${held - leases.length} more`] : [];
  return (
    `worker ${nameText(workerId)} declared a capacity of ${capacity} and holds ` +
    `${plural(held, 'lease')} (${listText([...names, ...more])})`
  );
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
      : `but workers have asked for ${listText(queuesAskedFor)}: does a worker for ${queue} run, ` +
        'and is the name spelt as the workers spell it?';
  return (
    `No worker has asked for queue ${queue} since the coordinator's start${since} (advisory), ` +
    others
  );
}
