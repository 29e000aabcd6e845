// Owns what a node that follows knows of the leader's time. When it takes over, it goes on from
// there: the wall clocks of two machines differ, and its own has no say (R6). It is pure; the
// node's monotonic clock and boot id are handed in.
//
// Only the newest beat counts, and no maximum is kept. A follower whose clock is a little fast runs
// ahead of the leader between two beats. A maximum would keep the lead of every pause, grow to
// minutes in days, and end live leases at a takeover. After the newest beat the time that is
// inherited is late by the beat's way through the network: a lease lives longer, never shorter.

/** What a leader says of its time, at short intervals. */
export interface Beat {
  /** The number of the CoordinatorStarted with which its writer became the leader. */
  readonly epoch: number;
  /** Coordinator time in ms. */
  readonly at: number;
  /** The etcd revision at which the beat was written. */
  readonly revision: number;
}

/** The newest beat, and when this machine heard it. It outlives the process, not the machine. */
export interface Heard extends Beat {
  readonly monotonicMs: number;
  /** The monotonic clock begins anew when a machine starts: the boot it belongs to. */
  readonly bootId: string;
}

/** This machine's own time, at the moment of asking. */
export interface LocalTime {
  readonly monotonicMs: number;
  readonly bootId: string;
}

/**
 * @param headEpoch the epoch of the log's head, as far as this node knows; it may not have read the
 * start of the leader whose beat it hears
 * @returns what is known now
 */
export function hear(
  known: Heard | undefined,
  beat: Beat,
  headEpoch: number,
  local: LocalTime,
): Heard | undefined {
  // A writer that was deposed tells no time. But as long as nothing else is known its beat shows
  // that the cluster lives, so that the wall clock has no say.
  const isKnown = known !== undefined && known.bootId === local.bootId;
  if (beat.epoch < headEpoch && isKnown) return known;
  // The same beat read once more is not news: it was heard when it came first.
  if (isKnown && beat.revision === known.revision) return known;
  const { epoch, at, revision } = beat;
  return { epoch, at, revision, monotonicMs: local.monotonicMs, bootId: local.bootId };
}

/**
 * @param epoch of the leader that is replaced: the number of the log's newest CoordinatorStarted
 * @returns the leader's time as it would be now, in whole ms. 0: only an earlier leader was heard,
 * and time goes on from the newest record alone. The one that is replaced may have been late, and
 * to go on from the earlier one's time would end its leases before their workers expect it.
 * undefined: nothing was heard since this machine started.
 */
export function inheritedMs(
  heard: Heard | undefined,
  local: LocalTime,
  epoch: number,
): number | undefined {
  if (heard === undefined || heard.bootId !== local.bootId) return undefined;
  if (heard.epoch !== epoch) return 0;
  return Math.floor(heard.at) + Math.floor(Math.max(0, local.monotonicMs - heard.monotonicMs));
}

/** The text in which it is kept in a file beside the mirror. */
export const heardText = (heard: Heard): string => JSON.stringify(heard);

/** @returns undefined when the text is not one of `heardText`: then nothing was heard. */
export function parseHeard(text: string): Heard | undefined {
  try {
    const { epoch, at, revision, monotonicMs, bootId } = JSON.parse(text) as Heard;
    const areNumbers = [epoch, at, revision, monotonicMs].every(Number.isFinite);
    if (!areNumbers || typeof bootId !== 'string') return undefined;
    return { epoch, at, revision, monotonicMs, bootId };
  } catch {
    return undefined;
  }
}
