// Owns the counting of effects: which tasks had more than one effect; whether a store that checks
// fencing tokens could have refused the others; which effects were repeated within one attempt;
// and which came when the lease was over.

import type { Recorded } from './rehearsed-coordinator.ts';
import type { Effect, Traffic } from './traffic.ts';

export interface DoubledEffect {
  readonly taskId: string;
  readonly times: number;
  /** Whether every effect but the first with the newest token came with an older token. */
  readonly refusable: boolean;
  readonly words: string;
}

interface Counted {
  readonly doubled: readonly DoubledEffect[];
  readonly repeated: readonly string[];
  readonly without: readonly string[];
}

interface Seen {
  readonly counted: ReadonlyMap<string, number>;
  readonly traffic: Pick<Traffic, 'effects' | 'exchanges'>;
  readonly records: readonly Recorded[];
}

const tell = ({ taskId, fencingToken, at }: Effect): string =>
  `an effect of ${taskId} with token ${fencingToken} at ${at} ms`;

export function countEffects({ traffic, records, counted }: Seen): Counted {
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
    return [{ taskId, times: of.length, refusable: passing === 1, words: of.map(tell).join('; ') }];
  });
  const repeated = traffic.effects.flatMap((effect, index) => {
    const same = (one: Effect): boolean =>
      one.taskId === effect.taskId && one.fencingToken === effect.fencingToken;
    return traffic.effects.slice(0, index).some(same) ? [`${tell(effect)}, once more`] : [];
  });
  const without = effects.flatMap((effect) => {
    const over = supersededBefore(effect, traffic, records);
    return over === undefined ? [] : [`${tell(effect)}: ${over}`];
  });
  const told = [...counted]
    .filter(([, times]) => times > 1)
    .map(([taskId, times]): DoubledEffect => {
      const words = `the command counts ${times} effects of ${taskId}`;
      return { taskId, times, refusable: false, words };
    });
  return { doubled: [...doubled, ...told], repeated, without };
}

/**
 * Records carry times of the coordinator's clock, and effects times of the rehearsal's clock; the
 * two cannot be compared. The order of messages can: an effect of an older lease came too late if
 * the grant of a newer lease had already been delivered.
 */
function supersededBefore(
  { taskId, fencingToken, askedAt }: Effect,
  { exchanges }: Pick<Traffic, 'exchanges'>,
  records: readonly Recorded[],
): string | undefined {
  const newer = exchanges.find(
    ({ deliveredAt, granted }) =>
      deliveredAt !== undefined &&
      deliveredAt <= askedAt &&
      granted.some((lease) => lease.taskId === taskId && lease.fencingToken > fencingToken),
  );
  if (newer === undefined) return undefined;
  const ended = records.find(
    ({ type, lease_id: id }) => id === `L${fencingToken}` && type === 'LeaseExpired',
  );
  const end = ended === undefined ? '' : `, record ${ended.seq}`;
  return `its lease L${fencingToken} was over${end}, and the task was in other hands`;
}
