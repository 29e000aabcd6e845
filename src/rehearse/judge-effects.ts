// Owns the judgement on the order of effect and report: a task that is reported as done has had its
// effect. Otherwise a crash between the two loses the effect, and nobody repeats it.

import { type Evidence, endText, type Held, say } from './leases-in-hand.ts';

export function reportedBeforeEffect(
  leases: readonly Held[],
  { traffic: { effects, abandoned } }: Evidence,
): string[] {
  return leases.flatMap((lease) => {
    const { taskId, fencingToken, reports, attemptTold } = lease;
    const report = reports.find(({ op }) => op === 'complete');
    if (report === undefined || attemptTold?.ended !== 'completed') return [];
    if (effects.some((one) => one.taskId === taskId && one.at <= report.at)) return [];
    const later = lease.effects.find(({ at }) => at > report.at);
    if (later !== undefined) {
      return [`${say(report)}, and the effect of ${taskId} at ${later.at} ms; ${endText(lease)}`];
    }
    const vain = abandoned.find(
      (one) => one.taskId === taskId && one.fencingToken === fencingToken,
    );
    if (vain === undefined) return [];
    return [
      `${say(report)}, although the effect of ${taskId}, asked for at ${vain.askedAt} ms, got no ` +
        `answer and did not happen; ${endText(lease)}`,
    ];
  });
}
