// Owns the last look before a node begins to lead: whatever the leader before wrote is in this
// node's copy then. A leader that was asked to leave may still send a group, and a start right
// behind that group would be vain, so the look is repeated until the log is quiet.

import type { Copy } from './follower.ts';
import { pause, type Time } from './time.ts';

/** So long the log must have no new record before a start. */
const QUIET_MS = 20;

interface Looking {
  readonly copy: Pick<Copy, 'lastNumber'>;
  readonly time: Time;
  /** A log that is not quiet for so long is not waited for. */
  readonly silenceMs: number;
}

/**
 * @param catchUp brings the copy to the end of the log; undefined: the signal aborted before
 * @returns false when the signal aborted. @throws as `catchUp`
 */
export async function isCopyWhole(
  { copy, time, silenceMs }: Looking,
  catchUp: () => Promise<number | undefined>,
  signal: AbortSignal,
): Promise<boolean> {
  for (const end = time.monotonic() + silenceMs; ; ) {
    const { lastNumber } = copy;
    if ((await catchUp()) === undefined) return false;
    if (copy.lastNumber === lastNumber || time.monotonic() >= end) return true;
    await pause(time, QUIET_MS, signal);
  }
}
