// Owns the question why a task ran more than once, asked from outside: for every further lease that
// clients were given of one task, the log must say why the one before was over.

import type { Fields } from '../support/server.ts';
import type { Asked } from './traffic.ts';

const seqOf = (id: unknown): number => Number(String(id).slice(1));

/** @returns a sentence for each run of a task whose successor has no reason in the log. */
export function runsWithoutReason(history: readonly Asked[], log: readonly Fields[]): string[] {
  const runs = new Map<unknown, number[]>();
  for (const { op, answer } of history) {
    if (op !== 'lease') continue;
    for (const { task_id: taskId, lease_id: leaseId } of (answer?.['leases'] ?? []) as Fields[]) {
      runs.set(taskId, [...(runs.get(taskId) ?? []), seqOf(leaseId)]);
    }
  }
  const reasons = new Map<unknown, number>();
  for (const { type, seq, lease_id: leaseId, retry_at: retryAt } of log) {
    const goesOn = type === 'LeaseExpired' || (type === 'TaskFailed' && retryAt !== undefined);
    if (goesOn) reasons.set(leaseId, seq as number);
  }
  return [...runs].flatMap(([taskId, leases]) =>
    leases
      .toSorted((a, b) => a - b)
      .flatMap((lease, at, all) => {
        const next = all[at + 1];
        const reason = reasons.get(`L${lease}`) ?? Number.POSITIVE_INFINITY;
        if (next === undefined || (reason > lease && reason < next)) return [];
        return [`${taskId} ran again as L${next}, and nothing says why L${lease} was over`];
      }),
  );
}
