// Owns what a tick does: the order in which the parts of the loop learn that time has passed.

import type { Expiry } from './expiry.ts';
import type { Granting } from './granting.ts';
import type { Ticket } from './group-commit.ts';
import type { Reading } from './reading.ts';
import type { Recovery } from './recovery.ts';
import type { Retention } from './retention.ts';

export interface TickedParts {
  readonly recovery: Recovery;
  readonly reading: Reading;
  readonly expiry: Expiry;
  readonly granting: Granting;
  readonly retention: Retention;
}

/**
 * Tries a log again that refused a record, refuses reads that have waited too long for the log,
 * expires due leases, then grants what has become eligible, and last forgets old history. Leases
 * come before grants, so that an expired task can be granted within the same tick.
 * @returns whether the coordinator serves; if not, only the first two steps were taken.
 */
export function tick(
  { recovery, reading, expiry, granting, retention }: TickedParts,
  now: number,
  refuseLate: (tickets: readonly Ticket[]) => void,
): boolean {
  recovery.tick(now);
  refuseLate(reading.takeLate(now));
  if (!recovery.serving) return false;
  expiry.expireDue(now);
  granting.tick(now);
  retention.tick(now);
  return true;
}
