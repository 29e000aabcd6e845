// Owns what an explanation says about work done at the same time: which leases were in two hands at
// once, which may have been, and who may still be at work under a lease that is over.

import { formatLeaseId, formatTaskId } from '../model/ids.ts';
import type { ExplainedAttempt, Fact, Overlap, Statement } from './explanation.ts';
import { listText, nameText, recordsOf, type Teller } from './names.ts';
import type { Run } from './overlaps.ts';

/** So many later leases are named; a task that ran out a hundred times has no more to say. */
const NAMED_MAX = 6;
/** So many earlier leases of which nothing is known get a sentence each. */
const UNKNOWN_MAX = 2;
const SILENT = 'a heartbeat that is refused or changes nothing leaves no record';

/** What the leases' names are made from: the attempts of the task itself and of its relatives. */
interface Naming {
  readonly taskId: number;
  readonly byLease: ReadonlyMap<number, ExplainedAttempt>;
  readonly tell: Teller;
}

/**
 * One statement for each earlier attempt, however many later ones it may have reached into.
 * @param runs the task's own attempts first, then those of its relatives.
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

/** `L3`, or `L3 of T2` where the lease is another task's. */
const leaseName = (leaseId: number, taskId: number, naming: Naming): string =>
  `${formatLeaseId(leaseId)}${taskId === naming.taskId ? '' : ` of ${formatTaskId(taskId)}`}`;

function unknownText(groups: readonly (readonly Overlap[])[], naming: Naming): string {
  const leases = groups.map(([first]) => {
    const { leases: pair, tasks } = first as Overlap;
    return leaseName(pair[0], tasks[0], naming);
  });
  return (
    `Whether the work under any of ${namesText(leases)} overlapped with that under those after ` +
    'them is unknown: nothing but the grants shows that anybody ever worked under them, for the ' +
    `answers may have been lost (${SILENT}).`
  );
}

/** `L3, L5 and L7`; of many the first and the last. */
function namesText(names: readonly string[]): string {
  if (names.length <= NAMED_MAX) return listText(names);
  const between = names.length - NAMED_MAX + 1;
  return `${names.slice(0, NAMED_MAX - 2).join(', ')}, ${between} more and ${names.at(-1)}`;
}

function overlapText(group: readonly Overlap[], naming: Naming): string {
  const { certainty, leases: pair, tasks } = group[0] as Overlap;
  const { byLease, tell } = naming;
  const earlier = byLease.get(pair[0]) as ExplainedAttempt;
  const lease = leaseName(pair[0], tasks[0], naming);
  const names = group.map(({ leases, tasks: of }) => leaseName(leases[1], of[1], naming));
  const others = namesText(names);
  const worker = nameText(earlier.workerId);
  const { report } = earlier;
  if (certainty === 'did' && report !== undefined) {
    return (
      `${lease} and ${others} were in two hands at once, which is proven: the late report for ` +
      `${lease} came at ${tell.at(report.at)}, while ${others} was held. That work was done ` +
      `under both at the same moment is not proven: worker ${worker} may have finished ` +
      'before and only reported late.'
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
      `${lease} may have overlapped with ${others}: worker ${worker} was at work at ${last}, its ` +
      `last heartbeat in the log, and has reported nothing since; ${stops} (${SILENT}).`
    );
  }
  return (
    `Whether ${lease} overlapped with ${others} is unknown: nothing but its grant shows that ` +
    `worker ${worker} ever worked under ${lease}, for the answer may have been lost on its way ` +
    `(${SILENT}).`
  );
}

/** What is said of every task: that nothing overlaps, where nothing does, and what names are. */
export function generalStatements(
  taskId: number,
  attempts: readonly ExplainedAttempt[],
  overlaps: readonly Overlap[],
  relatives: readonly Run[],
): Statement[] {
  const grants = attempts.map(({ leaseId }) => leaseId);
  const topic = 'overlap';
  if (grants.length === 0) {
    const text = 'Nobody has held the task yet, so nobody can have worked on it.';
    return [{ topic, text, records: [taskId] }];
  }
  const reports = attempts.map(({ report }) => report?.record);
  const records = recordsOf(...grants, ...reports);
  const none = { topic, text: noOverlapText(attempts), records } as const;
  const names = { topic, text: ADVISORY_NAMES, records: recordsOf(...grants) } as const;
  const within = overlaps.some(({ tasks: [earlier, later] }) => earlier === later);
  const own = { taskId, attempts };
  const apart = relatives.flatMap((run) => apartStatement(own, run, overlaps));
  return within ? [...apart, names] : [none, ...apart, names];
}

/** Of a task with the same content whose attempts overlap with none of this one's. */
function apartStatement(own: Run, run: Run, overlaps: readonly Overlap[]): Statement[] {
  const met = overlaps.some(({ tasks }) => tasks.includes(run.taskId) && tasks[0] !== tasks[1]);
  if (met || run.attempts.length === 0) return [];
  const [origin, heir] = run.taskId < own.taskId ? [run, own] : [own, run];
  const from = heir.attempts[0]?.leaseId;
  const text =
    `No attempt of ${formatTaskId(origin.taskId)} overlaps with one of ` +
    `${formatTaskId(heir.taskId)}: each had been reported before ` +
    `${from === undefined ? 'that' : formatLeaseId(from)} was granted.`;
  const reports = origin.attempts.map(({ report }) => report?.record);
  return [{ topic: 'overlap', text, records: recordsOf(...reports, from) }];
}

const ADVISORY_NAMES =
  'Worker names are what the workers call themselves (advisory): two processes may bear one ' +
  'name. The lease tells them apart.';

function noOverlapText(attempts: readonly ExplainedAttempt[]): string {
  const [first] = attempts as [ExplainedAttempt];
  if (attempts.length === 1) {
    return (
      `It was given out once, under ${formatLeaseId(first.leaseId)}: there is no second attempt ` +
      'with which that one could overlap.'
    );
  }
  return (
    'No overlap shows: each attempt was reported, in time or late, before the next one began, ' +
    'and a worker that keeps the protocol has stopped when it reports.'
  );
}

/** Who may be at work now, by the log alone: every page answers this. */
export function workersNow(attempts: readonly ExplainedAttempt[], tell: Teller): Fact {
  const holder = attempts.findLast(({ ended }) => ended === undefined);
  const silent = attempts.filter(
    ({ ended, report }) => (ended === 'expired' || ended === 'killed') && report === undefined,
  );
  const parts: string[] = [];
  if (holder !== undefined) {
    parts.push(`worker ${nameText(holder.workerId)} holds ${formatLeaseId(holder.leaseId)} now`);
  }
  const known = silent.filter(({ evidence }) => evidence === 'heartbeated');
  for (const one of known.slice(-NAMED_MAX)) parts.push(mayWork(one, tell));
  const unknown = silent.filter(({ evidence }) => evidence === 'none');
  if (unknown.length > 0) {
    const names = unknown.map(
      ({ leaseId, workerId }) => `${formatLeaseId(leaseId)} (worker ${nameText(workerId)})`,
    );
    const whether = parts.length === 0 ? 'whether' : 'and whether';
    parts.push(`${whether} anybody works, or ever worked, under ${namesText(names)} is unknown`);
  }
  const records = recordsOf(
    holder?.leaseId,
    ...silent.slice(-NAMED_MAX).flatMap((one) => [one.lastHeartbeat?.record, one.endRecord]),
  );
  if (parts.length === 0) {
    const text =
      attempts.length === 0
        ? 'Who may be at work: nobody, for it was never given out.'
        : 'Who may still be at work: nobody, by the log. Each attempt has reported, and a worker ' +
          'that keeps the protocol has stopped when it reports.';
    const reports = attempts.slice(-NAMED_MAX).map(({ report }) => report?.record);
    return { text, records: recordsOf(...reports) };
  }
  return { text: `Who may be at work: ${parts.join('; ')}.`, records };
}

function mayWork(attempt: ExplainedAttempt, tell: Teller): string {
  const { ended, lastHeartbeat, leaseExpiry, endedAt } = attempt;
  const over =
    ended === 'killed'
      ? `the task was killed at ${tell.at(endedAt ?? leaseExpiry)}`
      : `that ran out at ${tell.at(leaseExpiry)}`;
  return (
    `worker ${nameText(attempt.workerId)} may be at work still under ` +
    `${formatLeaseId(attempt.leaseId)}: ${over}, its last heartbeat was at ` +
    `${tell.at(lastHeartbeat?.at ?? attempt.grantedAt)}, and no report of it has come`
  );
}
