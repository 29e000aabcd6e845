// Owns the judgement on the order of effect and report: a task that is reported as done has had its
// effect. Otherwise a crash between the two loses the effect, and nobody repeats it. A task whose
// effect was left out must not be reported as done at all.

import { type Evidence, endText, type Held, say } from './leases-in-hand.ts';
import type { Exchange, WorkerEvent } from './traffic.ts';

interface Completed {
  readonly lease: Held;
  readonly report: Exchange;
}

/** Leases whose report as done was taken, and whose task had had no effect before. */
function completedEarly(leases: readonly Held[], { traffic }: Evidence): readonly Completed[] {
  return leases.flatMap((lease) => {
    const { taskId, reports, attemptTold } = lease;
    const report = reports.find(({ op }) => op === 'complete');
    if (report === undefined || attemptTold?.ended !== 'completed') return [];
    if (traffic.effects.some((one) => one.taskId === taskId && one.at <= report.at)) return [];
    return [{ lease, report }];
  });
}

export function reportedBeforeEffect(leases: readonly Held[], evidence: Evidence): string[] {
  return completedEarly(leases, evidence).flatMap(({ lease, report }) => {
    const why = effectLater(lease, report, evidence);
    return why === undefined ? [] : [`${say(report)}, ${why}; ${endText(lease)}`];
  });
}

/** Undefined: nothing shows that the worker meant to make the effect after its report. */
function effectLater(lease: Held, report: Exchange, evidence: Evidence): string | undefined {
  const { taskId, fencingToken, effects } = lease;
  const later = effects.find(({ at }) => at > report.at);
  if (later !== undefined) return `and the effect of ${taskId} at ${later.at} ms`;
  const vain = evidence.traffic.abandoned.find(
    (one) => one.taskId === taskId && one.fencingToken === fencingToken,
  );
  if (vain !== undefined) {
    return (
      `although the effect of ${taskId}, asked for at ${vain.askedAt} ms, got no answer and did ` +
      'not happen'
    );
  }
  const kill = killAfter(lease, report, evidence);
  if (kill === undefined || !isOwed(taskId, evidence)) return undefined;
  return `and worker ${lease.worker} was killed at ${kill.at} ms before ${taskId} had its effect`;
}

/** A process that was killed then may have been about to make the effect. */
const killAfter = (
  { worker }: Held,
  { at }: Exchange,
  { traffic }: Evidence,
): WorkerEvent | undefined =>
  traffic.events.find(
    (event) => event.worker === worker && event.what === 'killed' && event.at >= at,
  );

/** Whether the task's payload has an effect when nothing goes wrong, and the task had none. */
const isOwed = (taskId: string, { owed, counted, traffic }: Evidence): boolean =>
  owed.has(taskId) &&
  (counted.get(taskId) ?? 0) === 0 &&
  !traffic.effects.some((effect) => effect.taskId === taskId);

export function completedWithoutEffect(leases: readonly Held[], evidence: Evidence): string[] {
  return completedEarly(leases, evidence).flatMap(({ lease, report }) => {
    const { taskId } = lease;
    if (!isOwed(taskId, evidence)) return [];
    if (effectLater(lease, report, evidence) !== undefined) return [];
    const [vain] = lease.heartbeats.filter((one) => one.at <= report.at && !isConfirmed(one));
    const why = vain === undefined ? '' : `, after ${say(vain)} ${answerText(vain)}`;
    return [`${say(report)}${why}, and ${taskId} never had an effect; ${endText(lease)}`];
  });
}

const isConfirmed = ({ answered, deliveredAt }: Exchange): boolean =>
  answered?.outcome === 'OK' && deliveredAt !== undefined;

const answerText = ({ answered, deliveredAt }: Exchange): string =>
  answered === undefined || deliveredAt === undefined
    ? 'had got no answer'
    : `had been answered ${answered.outcome}`;
