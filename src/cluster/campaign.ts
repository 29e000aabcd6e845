// Owns when this node tries to lead: when nobody is heard, this node has followed the log to its
// end, and etcd takes what a leader writes. After a start that failed it waits longer each time, so
// that a node that cannot lead does not keep the others from leading.

import type { Etcd } from '../log/etcd/etcd.ts';
import { LeaderKey, type LeaderKeyOptions } from './leader-key.ts';
import type { LeaderWatch } from './leader-watch.ts';
import type { Time } from './time.ts';

export interface CampaignOptions {
  readonly etcd: Pick<Etcd, 'alarms'>;
  readonly watch: LeaderWatch;
  readonly leaderKey: LeaderKeyOptions;
  readonly time: Time;
  /** Starts of this node that failed one after the other. */
  readonly failedStarts: number;
  /** Whether this node could lead: it holds the log up to an end that it has seen. */
  isReady(): boolean;
  /** Whether another node was faster, each time that this one tried. */
  tried(result: 'won' | 'lost'): void;
  /** etcd is full or not; told when that changes. */
  full(isFull: boolean): void;
}

const BACK_OFF_MS = 1_000;
const BACK_OFF_MAX_MS = 60_000;

export class Campaign {
  private readonly options: CampaignOptions;
  private readonly restsUntil: number;
  private wasFull = false;

  constructor(options: CampaignOptions) {
    this.options = options;
    const { failedStarts, time } = options;
    const backOffMs = Math.min(BACK_OFF_MS * 2 ** (failedStarts - 1), BACK_OFF_MAX_MS);
    this.restsUntil = time.monotonic() + (failedStarts === 0 ? 0 : backOffMs);
  }

  /** Resolves when this node holds the key `leader`; undefined: the signal aborted before. */
  async won(signal: AbortSignal): Promise<LeaderKey | undefined> {
    while (!signal.aborted) {
      const leaderKey = await this.attempt().catch(() => undefined);
      if (leaderKey !== undefined && signal.aborted) {
        await leaderKey.stepDown();
        return undefined;
      }
      if (leaderKey !== undefined) return leaderKey;
      if (!signal.aborted) await this.options.watch.changed();
    }
    return undefined;
  }

  private async attempt(): Promise<LeaderKey | undefined> {
    const { watch, time, isReady, leaderKey } = this.options;
    const revision = await watch.vacantAt();
    if (revision === undefined || !isReady() || time.monotonic() < this.restsUntil)
      return undefined;
    if (await this.isFull()) {
      // A leader cannot beat while etcd takes no puts, so its silence says nothing.
      watch.countAnew();
      return undefined;
    }
    const claimed = await LeaderKey.claim(leaderKey, revision);
    this.options.tried(claimed === undefined ? 'lost' : 'won');
    return claimed;
  }

  private async isFull(): Promise<boolean> {
    const isFull = (await this.options.etcd.alarms()).includes('NOSPACE');
    if (isFull !== this.wasFull) this.options.full(isFull);
    this.wasFull = isFull;
    return isFull;
  }
}
