// Owns the key `leader` while this node leads or is about to: the beat, the etcd lease under it,
// and giving it up. The key is advice. A node whose key was taken sends the log nothing for a
// while, so that another node can begin to lead. When none does, this node goes on: only the log
// knows who leads.

import type { Etcd } from '../log/etcd/etcd.ts';
import { type Beat, decodeBeat, encodeBeat } from './beat.ts';
import { pause, type Time } from './time.ts';

export interface LeaderKeyOptions {
  readonly etcd: Pick<Etcd, 'txn' | 'grantLease' | 'keepLease' | 'revokeLease'>;
  readonly key: string;
  readonly time: Time;
  readonly beatMs: number;
  readonly silenceMs: number;
  /** This node, and its time as of now. */
  beat(): Beat;
  /**
   * Asks the log whether this node may still write: now and then, and when the key is not what this
   * node last wrote. A node that may not is ended by whoever answers, also while no request comes.
   */
  mayWrite(): Promise<boolean>;
  /** For so long this node sends the log no group. */
  standBack(ms: number): void;
  /** A whole number from 1 to 2^53 - 1, another one each time. */
  leaseId(): number;
}

/** The least that etcd grants with its default time for an election of its own. */
export const LEASE_SECONDS = 2;
/** A leader that nobody asks for anything asks the log so often. */
const ASK_MS = 10_000;
/** Whoever takes a key away gets so many times the silence to lead before it is made again. */
const STAND_BACK = 2;
/** But however long the silence may be, requests wait no longer than this. */
const STAND_BACK_MAX_MS = 5_000;

export class LeaderKey {
  private readonly options: LeaderKeyOptions;
  private leaseId: number;
  /** Of our newest put of the key; 0: the key is not ours. */
  private revision: number;
  private readonly ending = new AbortController();
  private readonly beating: Promise<void>;
  private readonly keeping: Promise<void>;
  private readonly asking: Promise<void>;
  private isLeaseGone = false;
  private isInDoubt = false;
  /** Ends the pause between two beats. */
  private hurry = new AbortController();

  private constructor(options: LeaderKeyOptions, leaseId: number, revision: number) {
    this.options = options;
    this.leaseId = leaseId;
    this.revision = revision;
    this.beating = this.beat();
    this.keeping = this.keep();
    this.asking = this.ask();
  }

  /**
   * Takes the key, on the condition that it still has this revision; 0: that there is none.
   * @returns undefined: another node was faster. @throws EtcdError
   */
  static async claim(options: LeaderKeyOptions, revision: number): Promise<LeaderKey | undefined> {
    const { etcd } = options;
    const leaseId = options.leaseId();
    await etcd.grantLease(leaseId, LEASE_SECONDS);
    const claimed = await put(options, leaseId, revision).catch(async (error: unknown) => {
      // The put may have taken place: without its lease the key goes.
      await etcd.revokeLease(leaseId).catch(() => {});
      throw error;
    });
    if (claimed !== undefined) return new LeaderKey(options, leaseId, claimed);
    await etcd.revokeLease(leaseId).catch(() => {});
    return undefined;
  }

  /** The key is gone, or another node's: this node looks at it now, and not at its next beat. */
  look(): void {
    this.hurry.abort();
  }

  /** Gives the key up, so that another node can lead at once. Never rejects. */
  async stepDown(): Promise<void> {
    this.ending.abort();
    this.hurry.abort();
    // No beat may come after: a beat on its way is waited for.
    await Promise.all([this.beating, this.keeping, this.asking]);
    await this.options.etcd.revokeLease(this.leaseId).catch(() => {});
  }

  private async beat(): Promise<void> {
    const { time, beatMs } = this.options;
    const { signal } = this.ending;
    while (!signal.aborted) {
      await pause(time, beatMs, this.hurry.signal);
      // Before the beat: what is told while it is on its way hurries the next one.
      this.hurry = new AbortController();
      if (!signal.aborted) await this.beatOnce().catch(() => {});
    }
  }

  private async beatOnce(): Promise<void> {
    if (this.isLeaseGone) await this.renewLease();
    const told = await putOrGet(this.options, this.leaseId, this.revision);
    if (typeof told === 'number') this.revision = told;
    else if (told?.beat.run === this.options.beat().run) {
      // An earlier beat of ours passed without an answer, or etcd was set back to it.
      this.revision = told.revision;
      this.isInDoubt = true;
    } else if (told === undefined && (await this.hasExpired())) {
      this.revision = 0;
    } else {
      await this.standBack();
    }
  }

  /** The key is gone: because our lease ran out, or because somebody asks us to step down. */
  private async hasExpired(): Promise<boolean> {
    const isGone = (await this.options.etcd.keepLease(this.leaseId)) === 0;
    this.isLeaseGone ||= isGone;
    return isGone;
  }

  /** Another node may lead now. If none does after all, the key is made again. */
  private async standBack(): Promise<void> {
    const { time, silenceMs, mayWrite, standBack } = this.options;
    const { signal } = this.ending;
    standBack(Math.min(silenceMs, STAND_BACK_MAX_MS));
    for (let times = 0; times < STAND_BACK && !signal.aborted; times += 1) {
      // A node that has begun to lead has fenced this one, which then ends at once.
      await mayWrite();
      await pause(time, silenceMs, signal);
    }
    if (!signal.aborted && (await mayWrite())) this.revision = 0;
  }

  private async keep(): Promise<void> {
    const { etcd, time } = this.options;
    const { signal } = this.ending;
    for (;;) {
      await pause(time, (LEASE_SECONDS * 1_000) / 3, signal);
      if (signal.aborted) return;
      const left = await etcd.keepLease(this.leaseId).catch(() => undefined);
      if (left === 0) this.isLeaseGone = true;
    }
  }

  /** Beside the beat, because the log answers only behind the records that are on their way. */
  private async ask(): Promise<void> {
    const { time, beatMs, mayWrite } = this.options;
    const { signal } = this.ending;
    for (let askedAt = time.monotonic(); ; ) {
      await pause(time, beatMs, signal);
      if (signal.aborted) return;
      const now = time.monotonic();
      if (!this.isInDoubt && now - askedAt < ASK_MS) continue;
      this.isInDoubt = false;
      askedAt = now;
      await mayWrite().catch(() => {});
    }
  }

  private async renewLease(): Promise<void> {
    // Meanwhile another node may have led, or etcd was set back.
    this.isInDoubt = true;
    const id = this.options.leaseId();
    await this.options.etcd.grantLease(id, LEASE_SECONDS);
    this.leaseId = id;
    this.isLeaseGone = false;
    // The key went with the old lease.
    this.revision = 0;
  }
}

interface Other {
  readonly beat: Beat;
  readonly revision: number;
}

/** @returns our revision of the key; else the key as it is; undefined: there is none. */
async function putOrGet(
  { etcd, key, beat }: LeaderKeyOptions,
  lease: number,
  revision: number,
): Promise<number | Other | undefined> {
  const value = encodeBeat(beat());
  const condition = { key, modRevision: revision };
  const answer = await etcd.txn([condition], [{ put: key, value, lease }], [{ get: key }]);
  if (answer.passed) return answer.revision;
  const [kv] = answer.found[0] ?? [];
  return kv === undefined ? undefined : { beat: decodeBeat(kv.value), revision: kv.modRevision };
}

/** @returns our revision of the key, or undefined. */
async function put(
  options: LeaderKeyOptions,
  lease: number,
  revision: number,
): Promise<number | undefined> {
  const told = await putOrGet(options, lease, revision);
  return typeof told === 'number' ? told : undefined;
}
