// Owns how a process of the cluster hears the leader, and is heard while it leads: beats through
// etcd, over a watch that breaks, lies silent and is made again. What the product makes of a beat
// is its own (heard-time.ts); beside it stands what was delivered, for the judge.

import type { WatchEvent } from '../../../src/log/etcd/etcd.ts';
import { hear } from '../../../src/loop/heard-time.ts';
import type { Events } from '../events.ts';
import type { Agreed } from './agreed.ts';
import type { Member } from './member.ts';

export const BEAT_MS = 300;
/** A watch that shows nothing for so long is made again. */
const SILENT_MS = 2_000;

interface BeatValue {
  readonly epoch: number;
  readonly at: number;
}

export class Hearing {
  /** When the newest beat came, by true time; what a process makes of silence is advice. */
  heardAt: number;
  private readonly member: Member;
  private readonly events: Events;
  private readonly agreed: Agreed;
  private readonly prefix: string;
  private headEpoch = 0;
  private next = 0;
  private shownAt = 0;
  private watchNumber = 0;

  constructor(member: Member, events: Events, agreed: Agreed, prefix: string) {
    this.member = member;
    this.events = events;
    this.agreed = agreed;
    this.prefix = prefix;
    this.heardAt = events.now;
    void this.begin();
    this.look();
  }

  private readonly look = (): void => {
    if (this.member.phase === 'over') return;
    this.events.after(BEAT_MS, this.look);
    if (this.events.now - this.shownAt > SILENT_MS) void this.begin();
  };

  /** Reads the head as of now, and watches from there: what lies between was not heard in time. */
  private async begin(): Promise<void> {
    this.shownAt = this.events.now;
    this.watchNumber += 1;
    const number = this.watchNumber;
    const { network } = this.member;
    const found = await network.range(`${this.prefix}head`, undefined).catch(() => undefined);
    if (found === undefined || number !== this.watchNumber) return;
    const [head] = found.kvs;
    if (head !== undefined) this.headEpoch = valueOf<BeatValue>(head.value).epoch;
    this.next = found.revision + 1;
    network.watch(this.prefix, this.next, {
      events: (shown) => {
        if (number === this.watchNumber) this.shown(shown);
      },
      ended: () => {
        if (number === this.watchNumber) this.shownAt = 0;
      },
    });
  }

  private shown(events: readonly WatchEvent[]): void {
    this.shownAt = this.events.now;
    for (const event of events) {
      if (event.type !== 'put') continue;
      const name = event.kv.key.slice(this.prefix.length);
      if (name === 'head') this.headEpoch = valueOf<BeatValue>(event.kv.value).epoch;
      else if (name === 'leader') this.beat(valueOf(event.kv.value), event.kv.modRevision);
    }
  }

  private beat({ epoch, at }: BeatValue, revision: number): void {
    const { machine } = this.member;
    const local = machine.local();
    machine.heard = hear(machine.heard, { epoch, at, revision }, this.headEpoch, local);
    const isOld = this.agreed.epochAt(revision) !== epoch;
    if (isOld && machine.delivered?.boot === machine.boot) return;
    if (!isOld) this.heardAt = this.events.now;
    machine.delivered = { epoch, revision, at, monotonicMs: local.monotonicMs, boot: machine.boot };
  }
}

/** A process that leads, or believes so, is heard; nobody asks here whether it is right. */
export async function sendBeat(member: Member, prefix: string, at: number): Promise<void> {
  const { loop, network } = member;
  if (loop?.view.mode !== 'serving') return;
  const value = Buffer.from(JSON.stringify({ epoch: loop.view.state.epoch, at }));
  await network.txn([], [{ put: `${prefix}leader`, value }]).catch(() => {});
}

const valueOf = <T>(value: Uint8Array): T => JSON.parse(Buffer.from(value).toString()) as T;
