// Owns the course of a node of a cluster: it follows the log until it is elected, brings its copy
// up to the end, and is ready to lead. As long as it leads it beats. It decides no request and
// writes no record.

import { type Etcd, EtcdError } from '../log/etcd/etcd.ts';
import type { Head } from '../log/etcd/head.ts';
import type { Keys } from '../log/etcd/keys.ts';
import { hear } from '../loop/heard-time.ts';
import type { ClusterCounts, ClusterView } from '../model/cluster-view.ts';
import type { SentCopy } from '../model/sent-copy.ts';
import type { Beat } from './beat.ts';
import { Campaign } from './campaign.ts';
import type { ClusterError } from './cluster-error.ts';
import { type Copy, Follower } from './follower.ts';
import type { HeardNote } from './heard-note.ts';
import { lagOf } from './lag.ts';
import type { LeaderKey, LeaderKeyOptions } from './leader-key.ts';
import { LeaderWatch } from './leader-watch.ts';
import { linked } from './linked-abort.ts';
import { Presence } from './presence.ts';
import { RunningNodes } from './running-nodes.ts';
import { pause, type Time } from './time.ts';
import { Trimming } from './trimming.ts';
import { isCopyWhole } from './whole-copy.ts';

export interface ClusterNodeOptions extends Pick<LeaderKeyOptions, 'mayWrite' | 'standBack'> {
  readonly etcd: Etcd;
  readonly keys: Keys;
  readonly time: Time;
  readonly cluster: string;
  readonly node: string;
  readonly url: string;
  readonly beatMs: number;
  readonly silenceMs: number;
  readonly tailMaxBytes: number;
  /** Random: of this run of the process, of this copy of the log; and the machine's name. */
  readonly ids: { readonly run: string; readonly mirror: string; readonly machine: string };
  readonly version: string;
  readonly failedStarts: number;
  /** With what it last knew of head, once it has caught up, and with the end that it saw. */
  readonly copy: Copy & { readonly head: Head; readonly endSeen: number | undefined };
  readonly heard: Pick<HeardNote, 'heard' | 'local' | 'keep'>;
  /** As of now: the copies of this node's log that are being sent, or were of late. */
  copies(): readonly SentCopy[];
  /** Bytes that this node has sent to etcd, ever growing. */
  written(): number;
  /** What is counted beside the node. */
  counts(): Omit<ClusterCounts, 'elections'>;
  /** A whole number from 1 to 2^53 - 1, another one each time. */
  leaseId(): number;
  shown(view: ClusterView): void;
  /** This node must end; see presence.ts. */
  lost(error: ClusterError): void;
  tell(level: 'info' | 'warn', msg: string, fields: Readonly<Record<string, unknown>>): void;
}

export class ClusterNode {
  private readonly options: ClusterNodeOptions;
  private readonly watch: LeaderWatch;
  private leaderKey: LeaderKey | undefined;
  private presence: Presence | undefined;
  private readonly elections = { won: 0, lost: 0 };
  private epoch = 0;
  private hasCaughtUp = false;
  private now = (): number => 0;
  private trouble: string | undefined;
  private readonly running = new RunningNodes();
  private etcd: ClusterView['etcd'];
  private readonly trimming: Trimming;

  constructor(options: ClusterNodeOptions) {
    this.options = options;
    const { etcd, time, beatMs, silenceMs, heard } = options;
    this.trimming = new Trimming({
      ...options,
      told: (figures) => {
        this.etcd = figures;
        this.show();
      },
    });
    this.watch = new LeaderWatch({
      ...{ etcd, time, beatMs, silenceMs, key: options.keys.leader },
      heard: ({ epoch, at }, revision) => {
        // A candidate's first beats tell no time.
        const known = this.hasCaughtUp ? options.copy.head.epoch : 0;
        if (epoch > 0) heard.keep(hear(heard.heard, { epoch, at, revision }, known, heard.local));
        this.show();
      },
      gone: () => this.leaderKey?.look(),
    });
  }

  get leads(): boolean {
    return this.epoch > 0;
  }

  /** Why no new task is taken, in words; undefined: there is room. */
  get refusal(): string | undefined {
    return this.trimming.refusal;
  }

  /**
   * Follows until this node is elected and its copy is whole.
   * @returns false when the signal aborted before. @throws ClusterError, LogError, LogCorrupt
   */
  async elected(signal: AbortSignal): Promise<boolean> {
    this.presence = await this.announced(signal);
    const { etcd, keys, time } = this.options;
    this.running.begin(etcd, keys, time, () => this.show());
    const campaigning = linked(signal);
    const following = linked(signal);
    const winning = this.campaign().won(campaigning.signal);
    const followed = this.follower().run(following.signal);
    try {
      this.leaderKey = await Promise.race([winning, followed.then(() => winning)]);
      following.abort();
      await followed;
    } catch (error) {
      campaigning.abort();
      this.leaderKey = await winning;
      throw error;
    }
    if (this.leaderKey === undefined) return false;
    const catchUp = () => this.insistently(signal, () => this.options.copy.catchUp());
    return isCopyWhole(this.options, catchUp, signal);
  }

  /** Requests are decided here from now on. @param now coordinator time */
  leading(epoch: number, now: () => number): void {
    this.epoch = epoch;
    this.now = now;
    this.trimming.begin();
    this.show();
  }

  /** Gives leadership up, so that another node takes over at once, and leaves. Never rejects. */
  async leave(): Promise<void> {
    this.watch.close();
    await this.leaderKey?.stepDown();
    await this.trimming.stop();
    await this.presence?.withdraw();
    await this.running.stop();
  }

  private campaign(): Campaign {
    const { options } = this;
    const { keys, mayWrite, tell } = options;
    return new Campaign({
      ...options,
      watch: this.watch,
      tried: (result) => void (this.elections[result] += 1),
      isReady: () => this.hasCaughtUp && this.trouble === undefined,
      full: (isFull) => {
        if (isFull) tell('warn', 'etcd is full: no node can begin to lead', {});
        else tell('info', 'etcd has room again', {});
      },
      leaderKey: {
        ...options,
        key: keys.leader,
        beat: () => this.beat(),
        mayWrite: () => (this.leads ? mayWrite() : Promise.resolve(true)),
      },
    });
  }

  private follower(): Follower {
    const { etcd, keys, time, beatMs, copy } = this.options;
    return new Follower({
      ...{ etcd, time, copy, prefix: keys.prefix },
      pollMs: 2 * beatMs,
      told: (trouble) => {
        if (trouble === undefined) this.tellCaughtUp();
        this.tellTrouble(trouble);
      },
    });
  }

  private tellCaughtUp(): void {
    if (this.hasCaughtUp) return;
    this.hasCaughtUp = true;
    const { tell, copy } = this.options;
    tell('info', 'this node follows and can take over', { last_sequence: copy.lastNumber });
  }

  private announced(signal: AbortSignal): Promise<Presence | undefined> {
    const { url, ids, version, copy } = this.options;
    const { mirror, machine } = ids;
    const report = () => ({ url, mirror, machine, mirrored: copy.lastNumber, version });
    const announce = () => Presence.announce({ ...this.options, report }, signal);
    return this.insistently(signal, announce);
  }

  /** As often as etcd does not answer. @returns undefined: the signal aborted before. */
  private async insistently<T>(
    signal: AbortSignal,
    call: () => Promise<T>,
  ): Promise<T | undefined> {
    while (!signal.aborted) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        this.tellTrouble(error.message);
      }
      await pause(this.options.time, this.options.beatMs, signal);
    }
    return undefined;
  }

  private beat(): Beat {
    const { node, url, ids, heard } = this.options;
    const { epoch } = this;
    const at = epoch === 0 ? 0 : Math.floor(this.now());
    // The leader goes on from its own time, too, when it is started again.
    if (epoch > 0) heard.keep({ epoch, at, revision: 0, ...heard.local });
    return { node, url, run: ids.run, epoch, at };
  }

  private tellTrouble(trouble: string | undefined): void {
    const { tell } = this.options;
    if (trouble === this.trouble) return;
    if (trouble !== undefined && this.trouble === undefined) {
      tell('warn', 'etcd does not answer; this node waits', { why: trouble });
    } else if (trouble === undefined) tell('info', 'etcd answers', {});
    this.trouble = trouble;
    this.show();
  }

  private show(): void {
    const { cluster, node, url, copy } = this.options;
    const { beat } = this.watch;
    const leads = this.leads;
    const leader = leads ? { node, url } : beat && { node: beat.node, url: beat.url };
    const lag = leads ? 0 : lagOf(copy, this.running.nodes);
    const refusing = leads ? this.trimming.room.refusal : undefined;
    const trouble = this.trouble ?? this.running.trouble;
    this.options.shown({
      ...{ role: leads ? 'leader' : 'follower', cluster, node, url },
      ...(leader === undefined ? {} : { leader }),
      epoch: leads ? this.epoch : (beat?.epoch ?? 0),
      last_sequence: copy.lastNumber,
      ...(lag === undefined ? {} : { lag }),
      ...(trouble === undefined ? {} : { trouble }),
      ...(this.etcd === undefined ? {} : { etcd: this.etcd }),
      ...(refusing === undefined ? {} : { refusing }),
      counts: { elections: this.elections, ...this.options.counts() },
      nodes: this.running.nodes,
    });
  }
}
