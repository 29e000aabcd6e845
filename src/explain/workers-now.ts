// Owns which workers may be at work now, by the log alone: the holder of the lease, and every
// earlier holder whose lease expired or was ended by a kill and who has reported nothing. Tasks
// with the same content count too.

import { formatTaskId } from '../model/ids.ts';
import type { ExplainedAttempt, Fact } from './explanation.ts';
import { leaseName, namesText, nameText, recordsOf, type Teller, UNRECORDED } from './names.ts';
import type { Run } from './overlaps.ts';
import { restoresOf, workerLost } from './restores.ts';

/** So many silent workers get a clause each. */
const TOLD_MAX = 6;

interface Held {
  readonly attempt: ExplainedAttempt;
  readonly lease: string;
}

/** @param runs the task's own attempts first, then those of the tasks with its content. */
export function workersNow(runs: readonly [Run, ...Run[]], tell: Teller): Fact {
  const explained = runs[0].taskId;
  const all = runs.flatMap(({ taskId, attempts }) =>
    attempts.map((attempt) => ({
      attempt,
      lease: leaseName(attempt.leaseId, taskId, explained),
    })),
  );
  const holders = all.filter(({ attempt }) => attempt.ended === undefined);
  const silent = all.filter(
    ({ attempt: { ended, report } }) =>
      (ended === 'expired' || ended === 'killed') && report === undefined,
  );
  const known = silent.filter(({ attempt }) => attempt.evidence === 'heartbeated');
  const unknown = silent.filter(({ attempt }) => attempt.evidence === 'none');
  const parts = [
    ...holders.map(
      ({ attempt, lease }) => `worker ${nameText(attempt.workerId)} holds ${lease} now`,
    ),
    ...known.slice(-TOLD_MAX).map((one) => mayWork(one, tell)),
    ...(known.length > TOLD_MAX ? [`${known.length - TOLD_MAX} earlier ones likewise`] : []),
    ...(unknown.length > 0 ? [mayEverHaveWorked(unknown)] : []),
    ...runs.flatMap((run) => lostHolders(run, explained)),
  ];
  if (parts.length === 0) return nobody(runs[0]);
  const behind = [...holders, ...silent.slice(-TOLD_MAX)].flatMap(({ attempt }) => [
    attempt.leaseId,
    attempt.lastHeartbeat?.record,
    attempt.endRecord,
  ]);
  const silence = silent.length === 0 ? '' : ` (${UNRECORDED})`;
  return {
    text: `Who may be at work: ${parts.join('; ')}${silence}.`,
    records: recordsOf(...behind, ...restoresOf(runs)),
  };
}

function lostHolders({ taskId, restores, redrivesLost }: Run, explained: number): string[] {
  const name = taskId === explained ? 'the task' : formatTaskId(taskId);
  return [
    ...(restores.length > 0 ? [workerLost(name)] : []),
    ...(redrivesLost.length > 0 ? [workerLost(`a redrive of ${name}`)] : []),
  ];
}

function mayWork({ attempt, lease }: Held, tell: Teller): string {
  const { ended, lastHeartbeat, leaseExpiry, endedAt, grantedAt } = attempt;
  const over =
    ended === 'killed'
      ? `the task was killed at ${tell.at(endedAt ?? leaseExpiry)}`
      : `that ran out at ${tell.at(leaseExpiry)}`;
  return (
    `worker ${nameText(attempt.workerId)} may be at work still under ${lease}: ${over}, its last ` +
    `heartbeat was at ${tell.at(lastHeartbeat?.at ?? grantedAt)}, and no report of it is recorded`
  );
}

function mayEverHaveWorked(unknown: readonly Held[]): string {
  const names = unknown.map(
    ({ attempt, lease }) => `${lease} (worker ${nameText(attempt.workerId)})`,
  );
  return `whether anybody works, or ever worked, under ${namesText(names)} is unknown`;
}

function nobody({ taskId, attempts }: Run): Fact {
  const reports = attempts.slice(-TOLD_MAX).map(({ report }) => report?.record);
  const text =
    attempts.length === 0
      ? 'Who may be at work: nobody, for it was never given out.'
      : 'Who may be at work: nobody, by the log. Each attempt has reported, and a worker that ' +
        'keeps the protocol has stopped when it reports.';
  return { text, records: attempts.length === 0 ? [taskId] : recordsOf(...reports) };
}
