// Owns the sentences about work that was done at the same time: during which leases two workers
// did work on the task, during which they may have, and how far the workers' names can tell two
// workers apart.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { ExplainedAttempt, Overlap, Statement } from './explanation.ts';
import { leaseName, namesText, nameText, recordsOf, type Teller, UNRECORDED } from './names.ts';
import type { Run } from './overlaps.ts';
import { byWhatIsLeft } from './restores.ts';

/** So many earlier leases of which nothing is known get a sentence each. */
const UNKNOWN_MAX = 2;
/** Names that stand at several leases, of which so many are told. */
const SHARED_MAX = 3;

/** What the leases' names are made from: the attempts of the task itself and of its relatives. */
interface Naming {
  readonly taskId: number;
  readonly byLease: ReadonlyMap<number, ExplainedAttempt>;
  readonly tell: Teller;
}

/**
 * Makes one statement for each earlier attempt, however many later attempts it may overlap.
 * @param runs the task's own attempts first, then those of its relatives
 */
export function overlapStatements(
  overlaps: readonly Overlap[],
  runs: readonly Run[],
  tell: Teller,
): Statement[] {
  const attempts = runs.flatMap((run) => run.attempts);
  const byLease = new Map(attempts.map((attempt) => [attempt.leaseId, attempt]));
  const naming = { taskId: runs[0]?.taskId ?? 0, byLease, tell };
  const grouped = new Map<string, Overlap[]>();
  for (const overlap of overlaps) {
    const key = `${overlap.leases[0]} ${overlap.certainty} ${overlap.tasks[1]}`;
    grouped.set(key, [...(grouped.get(key) ?? []), overlap]);
  }
  const groups = [...grouped.values()];
  const unknown = groups.filter(([first]) => first?.certainty === 'unknown');
  const together = unknown.length > UNKNOWN_MAX;
  const told = groups
    .filter(([first]) => !(together && first?.certainty === 'unknown'))
    .map((group) => statement(group, overlapText(group, naming)));
  return together ? [...told, statement(unknown.flat(), unknownText(unknown, naming))] : told;
}

const statement = (group: readonly Overlap[], text: string): Statement => ({
  topic: 'overlap',
  text,
  records: recordsOf(...group.flatMap(({ records }) => records)),
});

function unknownText(groups: readonly (readonly Overlap[])[], naming: Naming): string {
  const leases = groups.map(([first]) => {
    const { leases: pair, tasks } = first as Overlap;
    return leaseName(pair[0], tasks[0], naming.taskId);
  });
  return (
    `Whether the work under any of ${namesText(leases)} overlapped with that under those after ` +
    'them is unknown: nothing but the grants shows that anybody ever worked under them, for the ' +
    `answers may have been lost (${UNRECORDED}).`
  );
}

function overlapText(group: readonly Overlap[], naming: Naming): string {
  const { certainty, leases: pair, tasks } = group[0] as Overlap;
  const { byLease, tell } = naming;
  const earlier = byLease.get(pair[0]) as ExplainedAttempt;
  const lease = leaseName(pair[0], tasks[0], naming.taskId);
  const names = group.map(({ leases, tasks: of }) => leaseName(leases[1], of[1], naming.taskId));
  const others = namesText(names);
  const worker = nameText(earlier.workerId);
  const { report } = earlier;
  if (certainty === 'did' && report !== undefined) {
    return (
      `${lease} was still in a worker's hands while ${others} was held: the late report for ` +
      `${lease}, which came at ${tell.at(report.at)}, proves that. That work under both went on ` +
      `at once is not proven: worker ${worker} may have finished before and only reported late.`
    );
  }
  if (certainty === 'may' && report !== undefined) {
    return (
      `${lease} may have overlapped with ${others}: the late report for ${lease} came at ` +
      `${tell.at(report.at)}, after ${others} had ended; when the work stopped is not recorded.`
    );
  }
  const stops =
    earlier.ended === 'killed' ? 'a kill stops no worker' : 'a lease that runs out stops nobody';
  if (certainty === 'may') {
    const last = tell.at(earlier.lastHeartbeat?.at ?? earlier.grantedAt);
    return (
      `${lease} may have overlapped with ${others}: worker ${worker} showed life at ${last}, ` +
      `with its last heartbeat in the log, and no report of it is recorded since; ${stops} ` +
      `(${UNRECORDED}).`
    );
  }
  return (
    `Whether ${lease} overlapped with ${others} is unknown: nothing but its grant shows that ` +
    `worker ${worker} ever worked under ${lease}, for the answer with the grant may have been ` +
    'lost on its way ' +
    `(${UNRECORDED}).`
  );
}

/** What is said of every task: that nothing overlaps, where nothing does, and what names are. */
export function generalStatements(
  own: Run,
  overlaps: readonly Overlap[],
  relatives: readonly Run[],
): Statement[] {
  const { taskId, attempts, restores } = own;
  const grants = attempts.map(({ leaseId }) => leaseId);
  const topic = 'overlap';
  if (grants.length === 0) {
    const text = 'Nobody has held the task yet, so nobody can have worked on it.';
    return [{ topic, text: byWhatIsLeft(restores, text), records: [taskId] }];
  }
  const reports = attempts.map(({ report }) => report?.record);
  const records = recordsOf(...grants, ...reports);
  const none = { topic, text: byWhatIsLeft(restores, noOverlapText(attempts)), records } as const;
  const names = { topic, text: namesStatement(attempts), records: recordsOf(...grants) } as const;
  const within = overlaps.some(({ tasks: [earlier, later] }) => earlier === later);
  const apart = relatives.flatMap((run) => apartStatement(own, run, overlaps));
  return within ? [...apart, names] : [none, ...apart, names];
}

/** Of a task with the same content whose attempts overlap with none of this one's. */
function apartStatement(own: Run, run: Run, overlaps: readonly Overlap[]): Statement[] {
  const met = overlaps.some(({ tasks }) => tasks.includes(run.taskId) && tasks[0] !== tasks[1]);
  const [origin, heir] = run.taskId < own.taskId ? [run, own] : [own, run];
  const from = heir.attempts[0]?.leaseId;
  if (met || origin.attempts.length === 0 || from === undefined) return [];
  const text =
    `No attempt of ${formatTaskId(origin.taskId)} overlaps with one of ` +
    `${formatTaskId(heir.taskId)}: each had been reported before ${formatLeaseId(from)} was ` +
    'granted.';
  const reports = origin.attempts.map(({ report }) => report?.record);
  const told = byWhatIsLeft([...own.restores, ...run.restores], text);
  return [{ topic: 'overlap', text: told, records: recordsOf(...reports, from) }];
}

/** That names are advisory matters most where one name stands at several leases. */
function namesStatement(attempts: readonly ExplainedAttempt[]): string {
  const byName = new Map<string, string[]>();
  for (const { workerId, leaseId } of attempts) {
    byName.set(workerId, [...(byName.get(workerId) ?? []), formatLeaseId(leaseId)]);
  }
  const shared = [...byName].filter(([, leases]) => leases.length > 1);
  const told = shared
    .slice(0, SHARED_MAX)
    .map(
      ([name, leases]) =>
        ` ${nameText(name)} is the name at ${namesText(leases)}: the log cannot tell whether ` +
        'that was one process.',
    );
  return (
    'Worker names are advisory: a worker names itself, nobody checks the name, and two processes ' +
    `may bear one. The lease tells them apart.${told.join('')}`
  );
}

function noOverlapText(attempts: readonly ExplainedAttempt[]): string {
  const [first] = attempts as [ExplainedAttempt];
  if (attempts.length === 1) {
    return (
      `It was given out once, under ${formatLeaseId(first.leaseId)}: there is no second attempt ` +
      'of this task with which that one could overlap.'
    );
  }
  return (
    'No two attempts overlap: each was reported, in time or late, before the next one began, ' +
    'and a worker that keeps the protocol has stopped when it reports.'
  );
}
