// Owns the way of a Standing back from its JSON: the coordinator answers it through the mailbox
// like everything else, and the reader explains with it.

import { parseLeaseId, parseTaskId } from '../model/ids.ts';
import type { TaskStateName } from '../model/request.ts';
import type { Relative, Standing, WaitingAsker } from '../model/response.ts';

/** @param text what format.ts made of a Standing; it comes from our own coordinator. */
export function parseStanding(text: string): Standing {
  const given = JSON.parse(text) as Record<string, unknown>;
  const number = (name: string): number | undefined => given[name] as number | undefined;
  const task = (name: string): number | undefined => {
    const id = given[name] as string | undefined;
    return id === undefined ? undefined : parseTaskId(id);
  };
  const leaseId = given['lease_id'] as string | undefined;
  return {
    kind: 'standing',
    taskId: task('task_id') as number,
    state: given['state'] as TaskStateName,
    queue: given['queue'] as string,
    now: number('now') as number,
    asOf: number('as_of') as number,
    lastRecord: number('last_record') as number,
    lastExtension: number('last_extension') as number,
    starts: given['starts'] as number[],
    startsLeftOut: number('starts_left_out'),
    eligibleAt: number('eligible_at'),
    leaseId: leaseId === undefined ? undefined : parseLeaseId(leaseId),
    leaseExpiry: number('lease_expiry'),
    executionDeadline: number('execution_deadline'),
    ahead: number('ahead'),
    aheadIsMore: given['ahead_is_more'] === true,
    queueLastAskedAt: number('queue_last_asked_at'),
    queueParked: number('queue_parked'),
    queuesAskedFor: given['queues_asked_for'] as string[] | undefined,
    askers: given['askers'] as WaitingAsker[] | undefined,
    poisonThreshold: number('poison_threshold'),
    relatives: given['relatives'] as Relative[] | undefined,
    poisonAtNextGrant: given['poison_at_next_grant'] === true,
    redrivenAs: task('redriven_as'),
    attemptsLeft: number('attempts_left') as number,
  };
}
