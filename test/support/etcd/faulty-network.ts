// Owns the way of one node's calls to an etcd in memory and back. Requests and answers are lost,
// late or doubled as its dice say; a request may take effect long after its sender gave up, also
// when the sender is dead. Nothing here takes real time: a scheduler owns it.

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
import { FaultyWatch } from './faulty-watch.ts';
import { type MemoryEtcd, noAnswer } from './memory-etcd.ts';

export interface Scheduler {
  /** In ms. */
  readonly now: number;
  after(delayMs: number, run: () => void): void;
}

export interface Dice {
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Probabilities for one message; 0 switches the kind off. */
export interface NetworkTroubles {
  readonly requestLost: number;
  readonly answerLost: number;
  readonly requestLate: number;
  readonly requestDoubled: number;
  readonly watchEnds: number;
  readonly watchSilent: number;
}

export const NO_TROUBLES: NetworkTroubles = {
  requestLost: 0,
  answerLost: 0,
  requestLate: 0,
  requestDoubled: 0,
  watchEnds: 0,
  watchSilent: 0,
};

export interface NetworkOptions {
  readonly etcd: MemoryEtcd;
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  /** Asked for each message. */
  readonly troubles: () => NetworkTroubles;
  /** What a message takes in ms, each as likely as it often stands here. */
  readonly delays: readonly number[];
  /** A call without an answer after this is given up. */
  readonly callMs: number;
  /** Whose calls they are. */
  readonly sender: string;
}

/** What goes through in a partition. */
export type Partition = 'none' | 'requests lost' | 'requests held' | 'answers lost' | 'both lost';

/** Later than any sender waits. */
const LATE_MS = [300, 1_200, 5_000];
/** What was held on its way comes in another order. */
const RELEASED_MS = [0, 1, 2, 5, 10, 20, 50];

export class FaultyNetwork implements Etcd {
  private cut: Partition = 'none';
  private held: (() => void)[] = [];
  private readonly options: NetworkOptions;
  private readonly watches = new Set<FaultyWatch>();
  private isClosed = false;

  constructor(options: NetworkOptions) {
    this.options = options;
  }

  get partition(): Partition {
    return this.cut;
  }

  /** Requests that were held arrive when the network is whole again. */
  set partition(partition: Partition) {
    this.cut = partition;
    if (partition === 'requests held') return;
    const { held } = this;
    this.held = [];
    const { scheduler, dice } = this.options;
    for (const send of held) scheduler.after(dice.pick(RELEASED_MS), send);
  }

  txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise?: readonly Operation[],
  ): Promise<TxnAnswer> {
    return this.call((etcd) => etcd.txn(conditions, then, otherwise));
  }

  range(key: string, end: string | undefined, options?: RangeOptions): Promise<RangeAnswer> {
    return this.call((etcd) => etcd.range(key, end, options));
  }

  watch(prefix: string, fromRevision: number, listener: WatchListener): Watch {
    const watch = new FaultyWatch(this.options, prefix, fromRevision, {
      events: (...shown) => listener.events(...shown),
      ended: (error) => {
        this.watches.delete(watch);
        listener.ended(error);
      },
    });
    watch.isCut = () => this.isClosed || this.partition !== 'none';
    this.watches.add(watch);
    return watch;
  }

  grantLease(id: number, ttlSeconds: number): Promise<number> {
    return this.call((etcd) => etcd.grantLease(id, ttlSeconds));
  }

  keepLease(id: number): Promise<number> {
    return this.call((etcd) => etcd.keepLease(id));
  }

  revokeLease(id: number): Promise<void> {
    return this.call((etcd) => etcd.revokeLease(id));
  }

  compact(revision: number): Promise<void> {
    return this.call((etcd) => etcd.compact(revision));
  }

  status(): Promise<readonly EtcdStatus[]> {
    return this.call((etcd) => etcd.status());
  }

  alarms(): Promise<readonly string[]> {
    return this.call((etcd) => etcd.alarms());
  }

  /** The sender is gone: it hears nothing more, but what it has sent may still arrive. */
  close(): void {
    this.isClosed = true;
    for (const watch of this.watches) watch.close();
    this.watches.clear();
  }

  private call<T>(act: (etcd: MemoryEtcd) => T): Promise<T> {
    const { dice, scheduler, troubles, callMs } = this.options;
    return new Promise<T>((resolve, reject) => {
      if (this.isClosed) return;
      let isOver = false;
      const end = (settle: () => void): void => {
        if (isOver || this.isClosed) return;
        isOver = true;
        settle();
      };
      scheduler.after(callMs, () => end(() => reject(noAnswer())));
      const { requestLost, requestLate, requestDoubled } = troubles();
      const send = (delayMs: number): void =>
        scheduler.after(delayMs, () => this.arrive(act, (settle) => end(settle), resolve, reject));
      if (this.cut === 'requests held') this.held.push(() => send(0));
      if (this.isRequestCut() || dice.chance(requestLost)) return;
      send(dice.chance(requestLate) ? dice.pick(LATE_MS) : this.delay());
      if (dice.chance(requestDoubled)) send(this.delay() + dice.pick([0, ...LATE_MS]));
    });
  }

  private arrive<T>(
    act: (etcd: MemoryEtcd) => T,
    end: (settle: () => void) => void,
    resolve: (value: T) => void,
    reject: (error: EtcdError) => void,
  ): void {
    const { etcd, scheduler, sender } = this.options;
    if (!etcd.hasQuorum) return;
    etcd.advance(scheduler.now);
    let settle: () => void;
    try {
      const value = etcd.by(sender, act);
      settle = () => resolve(value);
    } catch (error) {
      settle = () => reject(error as EtcdError);
    }
    if (this.isAnswerCut()) return;
    scheduler.after(this.delay(), () => end(settle));
  }

  private isRequestCut(): boolean {
    return this.cut !== 'none' && this.cut !== 'answers lost';
  }

  private isAnswerCut(): boolean {
    const { dice, troubles } = this.options;
    if (this.cut === 'answers lost' || this.cut === 'both lost') return true;
    return dice.chance(troubles().answerLost);
  }

  private delay(): number {
    return this.options.dice.pick(this.options.delays);
  }
}
