// Owns the way between one writer and its etcd in tests: a request or an answer is lost, a request
// comes late or twice, as the test says. What it lets pass goes to the etcd behind it.

import {
  type Condition,
  type Etcd,
  EtcdError,
  type Operation,
  type RangeAnswer,
  type RangeOptions,
  type TxnAnswer,
} from '../../../src/log/etcd/etcd.ts';

/** What becomes of one request; 'late': it is sent when the test says, and its answer is lost. */
export type Fault = 'request lost' | 'answer lost' | 'late' | 'twice' | 'none';

export class FaultyLink implements Pick<Etcd, 'txn' | 'range'> {
  /** For the next requests that write, one each; then all pass. */
  readonly faults: Fault[] = [];
  /** Nothing passes, in neither direction. */
  isDown = false;
  /** Called after a request that writes was lost, before it is sent again. */
  beforeRetry: (() => void) | undefined;
  /** Waits before each request that only reads is sent. */
  beforeRead: (() => Promise<void>) | undefined;
  reads = 0;
  writes = 0;
  private refusals = 0;
  private watcher: { readonly from: number; readonly done: () => void } | undefined;
  private readonly held: (() => Promise<TxnAnswer>)[] = [];
  private readonly etcd: Pick<Etcd, 'txn' | 'range'>;

  constructor(etcd: Pick<Etcd, 'txn' | 'range'>) {
    this.etcd = etcd;
  }

  async txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise?: readonly Operation[],
  ): Promise<TxnAnswer> {
    const send = (): Promise<TxnAnswer> => this.etcd.txn(conditions, then, otherwise);
    if (then.every((operation) => 'get' in operation)) {
      await this.readBegins();
      return send();
    }
    this.writes += 1;
    if (this.isDown) throw this.refuse();
    const fault = this.faults.shift() ?? 'none';
    if (fault === 'late') {
      this.held.push(send);
      this.beforeRetry?.();
      this.beforeRetry = undefined;
    }
    if (fault === 'late' || fault === 'request lost') throw lost();
    const answer = await send();
    if (fault === 'answer lost') throw lost();
    return fault === 'twice' ? send() : answer;
  }

  async range(key: string, end: string | undefined, options?: RangeOptions): Promise<RangeAnswer> {
    await this.readBegins();
    return this.etcd.range(key, end, options);
  }

  /** Sends the requests that are late. @returns which of them passed. */
  async release(): Promise<boolean[]> {
    const passed: boolean[] = [];
    for (const send of this.held.splice(0)) passed.push((await send()).passed);
    return passed;
  }

  /** Resolves when so many more requests met nothing but silence. */
  refused(more: number): Promise<void> {
    return new Promise((done) => {
      this.watcher = { from: this.refusals + more, done };
    });
  }

  private async readBegins(): Promise<void> {
    this.reads += 1;
    await this.beforeRead?.();
    if (this.isDown) throw this.refuse();
  }

  private refuse(): EtcdError {
    this.refusals += 1;
    if (this.watcher !== undefined && this.refusals >= this.watcher.from) this.watcher.done();
    return lost();
  }
}

const lost = (): EtcdError => new EtcdError('no_answer', 'lost on the way');
