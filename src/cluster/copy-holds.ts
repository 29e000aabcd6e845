// Owns the holds: while a copy of the log is on its way to another machine, and for a while after,
// etcd keeps the records that the copy lacks, so that a node can go on from it. A hold lies under
// an etcd lease of its own. It goes when the copy is broken off, when a node runs on the copy (that
// node's report says then what it lacks), and when its time is over.

import { type Etcd, EtcdError, type KeyValue } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import { jsonBytes, numberIn, readStrictly, textIn } from '../log/etcd/strict-json.ts';
import type { SentCopy } from '../model/sent-copy.ts';
import type { Time } from './time.ts';

export interface Hold {
  /** The node that sends the copy. */
  readonly by: string;
  /** What comes after this record stays in etcd. */
  readonly last: number;
}

/** A copy that was sent is waited for so long; a node is started on it meanwhile. */
export const HOLD_SECONDS = 600;
const KEEP_MS = 60_000;

const encodeHold = ({ by, last }: Hold): Uint8Array => jsonBytes({ by, last });

/** @throws LogError LOG_STORE */
export const decodeHold = ({ key, value }: KeyValue): Hold =>
  readStrictly(key, value, (fields) => ({
    by: textIn(fields, 'by'),
    last: numberIn(fields, 'last'),
  }));

export interface HoldsOptions {
  readonly etcd: Pick<Etcd, 'txn' | 'grantLease' | 'keepLease' | 'revokeLease'>;
  readonly keys: Keys;
  readonly node: string;
  readonly time: Time;
  leaseId(): number;
  /** As of now: the copies of this node's log that are being sent, or were of late. */
  copies(): readonly SentCopy[];
}

interface Held {
  readonly copy: SentCopy;
  readonly lease: number;
  /** When the lease was last granted or kept. */
  readonly keptAt: number;
}

export class Holds {
  private readonly options: HoldsOptions;
  private readonly held = new Map<string, Held>();

  constructor(options: HoldsOptions) {
    this.options = options;
  }

  /** Makes the holds in etcd what the copies are now. @throws EtcdError */
  async tell(): Promise<void> {
    const copies = this.options.copies();
    for (const copy of copies) await this.hold(copy, this.held.get(copy.mirror));
    for (const mirror of this.held.keys()) {
      if (!copies.some((one) => one.mirror === mirror)) await this.release(mirror);
    }
  }

  /** This node ends, and with it the copies that it sends. Never rejects. */
  async end(): Promise<void> {
    for (const mirror of this.held.keys()) await this.release(mirror);
  }

  /** What was sent whole stays held until its time is over. Never rejects. */
  private async release(mirror: string): Promise<void> {
    const held = this.held.get(mirror);
    if (held === undefined) return;
    if (held.copy.sentAt === undefined && !(await this.revoked(held.lease))) return;
    this.held.delete(mirror);
  }

  /** @returns whether the lease is gone; else it is tried again, or its time is over. */
  private async revoked(lease: number): Promise<boolean> {
    try {
      await this.options.etcd.revokeLease(lease);
      return true;
    } catch (error) {
      return error instanceof EtcdError && error.code === 'refused';
    }
  }

  private async hold(copy: SentCopy, before: Held | undefined): Promise<void> {
    if (before?.copy.sentAt !== undefined) return;
    const { etcd, keys, node, time } = this.options;
    const now = time.monotonic();
    const seconds = secondsLeft(copy, now);
    // The coordinator's thread began anew: the one before has told this copy already, or could not.
    if (seconds <= 0) return;
    const isNews = before?.copy.last !== copy.last || copy.sentAt !== undefined;
    if (before !== undefined && !isNews && now - before.keptAt < KEEP_MS) return;
    const left = before === undefined ? 0 : await etcd.keepLease(before.lease);
    const lease = before === undefined || left === 0 ? await this.granted(seconds) : before.lease;
    if (lease !== before?.lease || before.copy.last !== copy.last) {
      const value = encodeHold({ by: node, last: copy.last });
      await etcd.txn([], [{ put: keys.hold(copy.mirror), value, lease }]);
    }
    this.held.set(copy.mirror, { copy, lease, keptAt: now });
  }

  private async granted(seconds: number): Promise<number> {
    const id = this.options.leaseId();
    await this.options.etcd.grantLease(id, seconds);
    return id;
  }
}

/** @returns for how long a copy is held still; less than 1: not any more. */
function secondsLeft({ sentAt }: SentCopy, now: number): number {
  if (sentAt === undefined) return HOLD_SECONDS;
  return HOLD_SECONDS - Math.floor((now - sentAt) / 1_000);
}
