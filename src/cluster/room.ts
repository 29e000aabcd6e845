// Owns how much room etcd has left: what its fullest member used of its quota when it was looked at
// last, and what this node has written since. An etcd that reaches its quota takes nothing at all
// any more, no end of a task either. So new tasks are refused before that, and what ends tasks has
// the rest of the room.

/** Of the quota: from here on absent nodes are waited for no longer. */
const TIGHT = 0.7;
/** From here on new tasks are refused, until it is less than ROOM_AGAIN. */
const FULL = 0.85;
const ROOM_AGAIN = 0.8;
/** A warning is over when it is less than this. */
const CALM = 0.65;
/**
 * etcd writes what it changes anew before it frees what was there, and frees no less than a page of
 * its file, which holds several pieces of a megabyte. So this much can be taken and not be in use.
 */
const SLACK_BYTES = 4 * 1024 * 1024;

export type Level = 'enough' | 'tight' | 'full';

export interface Measured {
  /** What is in use of the fullest member's database. */
  readonly usedBytes: number;
  /** The least of the members' quotas; undefined: etcd does not tell it, and nothing is refused. */
  readonly quotaBytes: number | undefined;
}

export class Room {
  measured: Measured = { usedBytes: 0, quotaBytes: undefined };
  private readonly written: () => number;
  private writtenThen: number;
  private known: Level = 'enough';

  /** @param written bytes that this node has sent to etcd, ever growing */
  constructor(written: () => number) {
    this.written = written;
    this.writtenThen = written();
  }

  /** What may be in use before absent nodes are waited for no longer. */
  get tightBytes(): number {
    const { quotaBytes = Number.POSITIVE_INFINITY } = this.measured;
    return TIGHT * quotaBytes - SLACK_BYTES;
  }

  /** Of the quota; 0: the quota is not known. */
  get share(): number {
    const { usedBytes, quotaBytes } = this.measured;
    if (quotaBytes === undefined) return 0;
    return (usedBytes + SLACK_BYTES + this.written() - this.writtenThen) / quotaBytes;
  }

  get level(): Level {
    const { share } = this;
    const isFull = share >= (this.known === 'full' ? ROOM_AGAIN : FULL);
    const isTight = share >= (this.known === 'enough' ? TIGHT : CALM);
    this.known = isFull ? 'full' : isTight ? 'tight' : 'enough';
    return this.known;
  }

  /** Why no new task is taken, in words; undefined: there is room. */
  get refusal(): string | undefined {
    if (this.level !== 'full') return undefined;
    const { quotaBytes = 0 } = this.measured;
    const share = `${Math.floor(100 * this.share)} % of its quota of ${mebibytes(quotaBytes)} MiB`;
    return (
      `etcd is nearly full (${share}): no new task is taken until there is room again, while ` +
      'leases, reports and heartbeats go on; `leasehold cluster status` shows what etcd holds'
    );
  }

  /** @param writtenThen what this node had written before etcd was looked at */
  measure(measured: Measured, writtenThen: number): void {
    this.measured = measured;
    this.writtenThen = writtenThen;
  }
}

const mebibytes = (bytes: number): string => (bytes / 1_048_576).toFixed(0);
