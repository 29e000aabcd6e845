// Owns an etcd in memory behind the calls of a client, without a network between them: each call
// takes effect at once, and watches are told at once.

import type {
  Condition,
  Etcd,
  EtcdError,
  EtcdStatus,
  Operation,
  RangeAnswer,
  RangeOptions,
  TxnAnswer,
  Watch,
  WatchListener,
} from '../../../src/log/etcd/etcd.ts';
import { type MemoryEtcd, noAnswer } from './memory-etcd.ts';

export class DirectEtcd implements Etcd {
  private readonly etcd: MemoryEtcd;
  private readonly watches = new Set<Watch>();

  constructor(etcd: MemoryEtcd) {
    this.etcd = etcd;
  }

  async txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise?: readonly Operation[],
  ): Promise<TxnAnswer> {
    return this.up().txn(conditions, then, otherwise);
  }

  async range(key: string, end: string | undefined, options?: RangeOptions): Promise<RangeAnswer> {
    return this.up().range(key, end, options);
  }

  watch(prefix: string, fromRevision: number, listener: WatchListener): Watch {
    let next = fromRevision;
    let isOver = false;
    const show = (): void => {
      if (isOver || this.etcd.revision < next) return;
      try {
        const changes = this.etcd.changesFrom(next);
        next = this.etcd.revision + 1;
        const events = changes
          .flatMap((change) => change.events)
          .filter((event) => (event.type === 'put' ? event.kv.key : event.key).startsWith(prefix));
        if (events.length > 0) listener.events(events, next - 1);
      } catch (error) {
        watch.close();
        listener.ended(error as EtcdError);
      }
    };
    const stop = this.etcd.onChange(() => queueMicrotask(show));
    const watch = {
      close: (): void => {
        isOver = true;
        stop();
        this.watches.delete(watch);
      },
    };
    this.watches.add(watch);
    queueMicrotask(show);
    return watch;
  }

  async grantLease(id: number, ttlSeconds: number): Promise<number> {
    return this.up().grantLease(id, ttlSeconds);
  }

  async keepLease(id: number): Promise<number> {
    return this.up().keepLease(id);
  }

  async revokeLease(id: number): Promise<void> {
    this.up().revokeLease(id);
  }

  async compact(revision: number): Promise<void> {
    this.up().compact(revision);
  }

  async status(): Promise<readonly EtcdStatus[]> {
    return this.etcd.status();
  }

  async alarms(): Promise<readonly string[]> {
    return this.up().alarms();
  }

  close(): void {
    for (const watch of this.watches) watch.close();
  }

  private up(): MemoryEtcd {
    if (!this.etcd.hasQuorum) throw noAnswer();
    return this.etcd;
  }
}
