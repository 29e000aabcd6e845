// Owns one watch over the faulty network: events come late, in order and in whole revisions; the
// watch ends when its events were compacted or its connection breaks; and now and then it falls
// silent without a word, which is how watches fail in practice.

import { EtcdError, type Watch, type WatchListener } from '../../../src/log/etcd/etcd.ts';
import type { NetworkOptions } from './faulty-network.ts';

/** How often the member looks for something new to tell, and a quiet watch is told so. */
const LOOK_MS = 20;
const PROGRESS_EVERY = 25;

export class FaultyWatch implements Watch {
  isCut: () => boolean = () => false;
  private readonly options: NetworkOptions;
  private readonly prefix: string;
  private readonly listener: WatchListener;
  private readonly generation: number;
  private next: number;
  private isOver = false;
  private isSilent = false;
  private looked = 0;

  constructor(options: NetworkOptions, prefix: string, from: number, listener: WatchListener) {
    this.options = options;
    this.prefix = prefix;
    this.next = from;
    this.listener = listener;
    this.generation = options.etcd.generation;
    this.later();
  }

  close(): void {
    this.isOver = true;
  }

  private later(): void {
    this.options.scheduler.after(LOOK_MS + this.options.dice.pick(this.options.delays), this.look);
  }

  private readonly look = (): void => {
    if (this.isOver) return;
    this.later();
    const { dice, troubles, etcd } = this.options;
    if (etcd.generation !== this.generation) return this.end('no_answer', 'connection closed');
    this.isSilent ||= dice.chance(troubles().watchSilent);
    if (this.isSilent || this.isCut() || !etcd.hasQuorum) return;
    if (dice.chance(troubles().watchEnds)) return this.end('no_answer', 'watch cancelled');
    try {
      this.show();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      this.end(error.code, error.message);
    }
  };

  private show(): void {
    const { etcd, scheduler } = this.options;
    etcd.advance(scheduler.now);
    const { revision } = etcd;
    this.looked += 1;
    const events = etcd
      .changesFrom(this.next)
      .flatMap((change) => change.events)
      .filter((event) => keyOf(event).startsWith(this.prefix));
    if (events.length === 0 && this.looked % PROGRESS_EVERY !== 0) return;
    if (revision < this.next) return;
    this.next = revision + 1;
    this.listener.events(events, revision);
  }

  private end(code: EtcdError['code'], message: string): void {
    this.isOver = true;
    this.listener.ended(new EtcdError(code, message));
  }
}

const keyOf = (event: Parameters<WatchListener['events']>[0][number]): string =>
  event.type === 'put' ? event.kv.key : event.key;
