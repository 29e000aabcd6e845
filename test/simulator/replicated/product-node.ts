// Owns a process of the cluster whose following, election and standby are the product's own. What
// it hears of the leader is noted beside it, so that the judge can say which time it may inherit.

import { ClusterNode } from '../../../src/cluster/cluster-node.ts';
import { Standby } from '../../../src/cluster/standby.ts';
import type { Etcd, WatchEvent } from '../../../src/log/etcd/etcd.ts';
import type { ReplicatedLog } from '../../../src/log/etcd/replicated-log.ts';
import { type Heard, inheritedMs } from '../../../src/loop/heard-time.ts';
import { digestText } from '../node.ts';
import type { Cluster } from './cluster.ts';
import { BEAT_MS } from './hearing.ts';
import { KEYS } from './layout.ts';
import type { Led, Member } from './member.ts';
import { newLog, timeOf } from './open-log.ts';

const SILENCE_MS = 1_500;

export class ProductNode {
  readonly log: ReplicatedLog;
  private readonly node: ClusterNode;
  private readonly standby: Standby;
  private readonly member: Member;
  private readonly cluster: Cluster;
  private readonly stopping = new AbortController();

  constructor(cluster: Cluster, member: Member, leaseId: () => number) {
    this.cluster = cluster;
    this.member = member;
    this.log = newLog(cluster, member);
    const { log } = this;
    const { machine } = member;
    this.standby = new Standby({ log, archive: undefined, digestText, events: {} });
    const { standby } = this;
    this.node = new ClusterNode({
      etcd: this.overheard(),
      time: timeOf(cluster.events, member),
      keys: KEYS,
      ...{ cluster: 'sim', node: machine.name, url: `http://${machine.name}`, version: 'sim' },
      ...{ beatMs: BEAT_MS, silenceMs: SILENCE_MS, failedStarts: 0, leaseId },
      ids: { run: member.name, mirror: machine.diskName, machine: machine.name },
      copy: {
        get lastNumber() {
          return log.lastNumber;
        },
        get head() {
          return log.head;
        },
        get endSeen() {
          return log.endSeen;
        },
        catchUp: () => log.catchUp((record) => standby.took(record)),
        follow: (events) => log.follow(events, (record) => standby.took(record)),
      },
      heard: this.heard,
      copies: () => [],
      written: () => 0,
      counts: () => ({ resolved: { durable: 0, resent: 0, unknown: 0 }, etcd_errors: {} }),
      tailMaxBytes: cluster.settings.tailMaxBytes,
      mayWrite: async () => (await log.confirm()) === 'durable',
      standBack: (ms) => log.standBack(ms),
      shown: () => {},
      lost: () => member.phase !== 'over' && cluster.kill(machine, 1_000),
      tell: () => {},
    });
  }

  /** Follows until it is elected. @returns undefined: it was stopped. @throws as ClusterNode */
  async elected(): Promise<Led | undefined> {
    const isWarm = await this.standby.warmUp(this.stopping.signal, () => {});
    if (!isWarm || !(await this.node.elected(this.stopping.signal))) return undefined;
    await this.standby.stop();
    const { epoch } = this.log.head;
    return { prepared: this.standby.replayer, inherited: () => this.inherited(epoch) };
  }

  leads(epoch: number, now: () => number): void {
    this.node.leading(epoch, now);
  }

  /** As on SIGTERM. */
  leave(): void {
    this.stopping.abort();
    void this.node.leave();
  }

  private inherited(epoch: number): number | undefined {
    const { machine } = this.member;
    const inherited = inheritedMs(machine.heard, machine.local(), epoch);
    this.member.usesWallClock = inherited === undefined;
    return inherited;
  }

  /** The note beside the mirror: it outlives the process. */
  private get heard() {
    const { machine } = this.member;
    return {
      get heard() {
        return machine.heard;
      },
      get local() {
        return machine.local();
      },
      keep: (heard: Heard | undefined): void => {
        machine.heard = heard;
        // A leader's own time is what it goes on from, too.
        if (heard?.revision === 0) this.note(heard.epoch, heard.at, 0);
      },
    };
  }

  /** The etcd of this node; beats are noted when they are delivered. */
  private overheard(): Etcd {
    const { network } = this.member;
    const etcd = Object.create(network) as Etcd;
    etcd.watch = (prefix, from, listener) =>
      network.watch(prefix, from, {
        events: (events, revision) => {
          // The log is watched, too, and that watch tells no time.
          if (prefix === KEYS.leader) for (const event of events) this.overhear(event);
          listener.events(events, revision);
        },
        ended: (error) => listener.ended(error),
      });
    return etcd;
  }

  private overhear(event: WatchEvent): void {
    if (event.type !== 'put' || event.kv.key !== KEYS.leader) return;
    const text = Buffer.from(event.kv.value).toString();
    const { epoch, at } = JSON.parse(text) as { readonly epoch: number; readonly at: number };
    const revision = event.kv.modRevision;
    const { delivered, boot } = this.member.machine;
    const isOld = this.cluster.agreed.epochAt(revision) !== epoch;
    if (epoch > 0 && !(isOld && delivered?.boot === boot)) this.note(epoch, at, revision);
  }

  private note(epoch: number, at: number, revision: number): void {
    const { machine } = this.member;
    const { delivered, boot } = machine;
    if (revision > 0 && delivered?.boot === boot) {
      // A watch that is made anew shows beats once more; each was heard when it came first.
      if (delivered.revision === revision || epoch < delivered.epoch) return;
    }
    machine.delivered = { epoch, revision, at, monotonicMs: machine.monotonic(), boot };
  }
}
