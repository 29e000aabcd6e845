// Owns what is counted of the talk with etcd: the bytes that were sent to be stored, and the errors
// that came back. It changes nothing about a call.

import {
  type Condition,
  type Etcd,
  EtcdError,
  type EtcdErrorCode,
  type Operation,
  type RangeOptions,
  type TxnAnswer,
  type Watch,
  type WatchListener,
} from './etcd.ts';

/** What etcd takes for a put besides its key and its value, roughly. */
const PUT_COST_BYTES = 256;

export type EtcdErrorCounts = Readonly<Partial<Record<EtcdErrorCode, number>>>;

export class MeteredEtcd implements Etcd {
  /** Bytes of all puts, whatever became of them. */
  written = 0;
  private readonly etcd: Etcd;
  private readonly counts = new Map<EtcdErrorCode, number>();

  constructor(etcd: Etcd) {
    this.etcd = etcd;
  }

  get errors(): EtcdErrorCounts {
    return Object.fromEntries(this.counts);
  }

  txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise?: readonly Operation[],
  ): Promise<TxnAnswer> {
    for (const operation of then) {
      if (!('put' in operation)) continue;
      this.written += operation.put.length + operation.value.length + PUT_COST_BYTES;
    }
    return this.counted(this.etcd.txn(conditions, then, otherwise));
  }

  range(key: string, end: string | undefined, options?: RangeOptions) {
    return this.counted(this.etcd.range(key, end, options));
  }

  watch(prefix: string, fromRevision: number, listener: WatchListener): Watch {
    return this.etcd.watch(prefix, fromRevision, {
      events: (events, revision) => listener.events(events, revision),
      ended: (error) => {
        this.count(error);
        listener.ended(error);
      },
    });
  }

  grantLease(id: number, ttlSeconds: number) {
    return this.counted(this.etcd.grantLease(id, ttlSeconds));
  }

  keepLease(id: number) {
    return this.counted(this.etcd.keepLease(id));
  }

  revokeLease(id: number) {
    return this.counted(this.etcd.revokeLease(id));
  }

  compact(revision: number) {
    return this.counted(this.etcd.compact(revision));
  }

  status() {
    return this.counted(this.etcd.status());
  }

  alarms() {
    return this.counted(this.etcd.alarms());
  }

  close(): void {
    this.etcd.close();
  }

  private async counted<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.count(error);
      throw error;
    }
  }

  private count(error: unknown): void {
    if (!(error instanceof EtcdError)) return;
    // A compaction twice, and a watch from before one, are part of the course.
    if (error.code === 'compacted') return;
    this.counts.set(error.code, (this.counts.get(error.code) ?? 0) + 1);
  }
}
