// Owns the time of a cluster in memory: timers fire when a test lets time pass, in their order, and
// the etcd in memory is told the time first.

import type { Time } from '../../src/cluster/time.ts';
import type { MemoryEtcd } from '../support/etcd/memory-etcd.ts';

interface Timer {
  readonly at: number;
  act(): void;
}

export class ClusterTime {
  now = 0;
  private readonly etcd: MemoryEtcd;
  private readonly timers = new Set<Timer>();

  constructor(etcd: MemoryEtcd) {
    this.etcd = etcd;
  }

  /** Of one node; it stands still for a node that is paused, whose timers then fire late. */
  ofNode(isPaused: () => boolean = () => false): Time {
    return {
      monotonic: () => this.now,
      after: (ms, act) => {
        const timer = { at: this.now + ms, act: () => this.fire(act, isPaused) };
        this.timers.add(timer);
        return () => this.timers.delete(timer);
      },
    };
  }

  /** Everything that is due meanwhile happens. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    await settled();
    for (;;) {
      const [next] = [...this.timers].toSorted((a, b) => a.at - b.at);
      if (next === undefined || next.at > until) break;
      this.timers.delete(next);
      this.now = Math.max(this.now, next.at);
      this.etcd.advance(this.now);
      next.act();
      await settled();
    }
    this.now = until;
    this.etcd.advance(until);
    await settled();
  }

  private fire(act: () => void, isPaused: () => boolean): void {
    if (!isPaused()) return act();
    this.timers.add({ at: this.now + 50, act: () => this.fire(act, isPaused) });
  }
}

/** Whatever needs no time has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
