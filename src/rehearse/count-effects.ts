// Owns the counting of effects: which tasks had more than one effect; whether a store that checks
// fencing tokens could have refused the others; which effects were repeated within one attempt;
// and which came when the lease was over.

import { inFlightMs } from './allowances.ts';
import { type Evidence, endText, type Held, lossToldAt } from './leases-in-hand.ts';
import type { Effect } from './traffic.ts';

export interface DoubledEffect {
  readonly taskId: string;
  readonly times: number;
  /** Whether every effect but the first with the newest token came with an older token. */
  readonly refusable: boolean;
  readonly words: string;
  /** Why the task was given out again, in the words of explain. */
  readonly why: readonly string[];
}

interface Counted {
  readonly doubled: readonly DoubledEffect[];
  readonly repeated: readonly string[];
  readonly without: readonly string[];
}

const tell = ({ taskId, fencingToken, at }: Effect): string =>
  `an effect of ${taskId} with token ${fencingToken} at ${at} ms`;

export function countEffects(evidence: Evidence, held: readonly Held[]): Counted {
  const { traffic, counted } = evidence;
  const whyOf = (taskId: string): readonly string[] =>
    (evidence.stories.find((story) => story.task_id === taskId)?.statements ?? [])
      .filter(({ topic }) => topic === 'cause')
      .map(({ text }) => text);
  const effects = traffic.effects.filter(({ accepted }) => accepted);
  const tasks = [...new Set(effects.map(({ taskId }) => taskId))];
  const doubled = tasks.flatMap((taskId): DoubledEffect[] => {
    const of = effects.filter((effect) => effect.taskId === taskId);
    if (of.length < 2) return [];
    // A store refuses what comes with an older token than it has seen, and nothing else.
    let newest = 0;
    let passing = 0;
    for (const { fencingToken } of of) {
      if (fencingToken >= newest) passing += 1;
      newest = Math.max(newest, fencingToken);
    }
    const words = of.map(tell).join('; ');
    return [{ taskId, times: of.length, refusable: passing === 1, words, why: whyOf(taskId) }];
  });
  const repeated = traffic.effects.flatMap((effect, index) => {
    const same = (one: Effect): boolean =>
      one.taskId === effect.taskId && one.fencingToken === effect.fencingToken;
    return traffic.effects.slice(0, index).some(same) ? [`${tell(effect)}, once more`] : [];
  });
  const without = effects.flatMap((effect) => {
    const over = lostBefore(effect, held, evidence);
    return over === undefined ? [] : [`${tell(effect)}: ${over}`];
  });
  const told = [...counted]
    .filter(([, times]) => times > 1)
    .map(([taskId, times]): DoubledEffect => {
      const words = `the command counts ${times} effects of ${taskId}`;
      return { taskId, times, refusable: false, words, why: whyOf(taskId) };
    });
  return { doubled: [...doubled, ...told], repeated, without };
}

/**
 * Records carry times of the coordinator's clock, and effects times of the rehearsal's clock; the
 * two cannot be compared. The order of messages can: an effect came too late when a newer lease had
 * been delivered before it, or when its own worker had been told of the loss.
 */
function lostBefore(
  { taskId, fencingToken, askedAt }: Effect,
  held: readonly Held[],
  evidence: Evidence,
): string | undefined {
  const of = held.filter((lease) => lease.taskId === taskId);
  const own = of.find((lease) => lease.fencingToken === fencingToken);
  const end = own === undefined ? '' : ` (${endText(own)})`;
  if (of.some((lease) => lease.from <= askedAt && lease.fencingToken > fencingToken)) {
    return `the task was in other hands${end}`;
  }
  const told = own === undefined ? undefined : lossToldAt(own, evidence);
  if (told === undefined || askedAt <= told + inFlightMs(evidence.leaseMs)) return undefined;
  return `its worker had been told at ${told} ms that the lease was lost${end}`;
}
