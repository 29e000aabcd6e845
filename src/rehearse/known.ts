// Owns what the undisturbed run shows of a worker: which scenarios can bite, and which tasks must
// have an effect.

import { isHeartbeat } from './requests.ts';
import type { Run } from './run.ts';

/** What the undisturbed run has shown of the worker. */
export interface Known {
  /** Whether the worker sends its effects to the ledger. */
  readonly hasEffects: boolean;
  /** Whether its tasks take long enough for heartbeats. */
  readonly hasHeartbeats: boolean;
  /** Whether a heartbeat comes before an effect, and the effect may depend on its answer. */
  readonly asksBeforeEffect: boolean;
  /** Payloads that had their effect each time. */
  readonly withEffect: ReadonlySet<string>;
}

export const NOTHING_KNOWN: Known = {
  hasEffects: false,
  hasHeartbeats: false,
  asksBeforeEffect: false,
  withEffect: new Set(),
};

/** What the run shows of the worker; it means something when nothing went wrong. */
export function knownFrom(
  { traffic, tasks, payloads }: Run,
  counted: ReadonlyMap<string, number>,
): Known {
  const beats = traffic.exchanges.filter(isHeartbeat);
  const effects = traffic.effects.filter(({ accepted }) => accepted);
  const without = tasks.filter(
    (id) => (counted.get(id) ?? 0) === 0 && !effects.some(({ taskId }) => taskId === id),
  );
  const withEffect = new Set(payloads.values());
  for (const id of without) withEffect.delete(payloads.get(id) ?? '');
  return {
    hasEffects: traffic.effects.length > 0,
    hasHeartbeats: beats.length > 0,
    // A command counts afterwards, and does not say when an effect happened.
    asksBeforeEffect: beats.some(
      ({ taskId, at }) =>
        (counted.get(taskId ?? '') ?? 0) > 0 ||
        effects.some((effect) => effect.taskId === taskId && effect.askedAt >= at),
    ),
    withEffect,
  };
}
