// Owns the store of a node of a cluster: this node's own copy of the log in etcd, the state that is
// kept ready beside it, and the node that waits until it may lead.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { ClusterError } from '../../src/cluster/cluster-error.ts';
import { ClusterNode } from '../../src/cluster/cluster-node.ts';
import { HeardNote } from '../../src/cluster/heard-note.ts';
import { Standby } from '../../src/cluster/standby.ts';
import { digestOf } from '../../src/core/digest-index.ts';
import { EtcdError } from '../../src/log/etcd/etcd.ts';
import { type Keys } from '../../src/log/etcd/keys.ts';
import type { MeteredEtcd } from '../../src/log/etcd/metered-etcd.ts';
import { ReplicatedLog, type ReplicatedLogOptions } from '../../src/log/etcd/replicated-log.ts';
import type { Resolved } from '../../src/log/etcd/tail-options.ts';
import { type LmdbLog } from '../../src/log/lmdb-log.ts';
import { LogError } from '../../src/log/log.ts';
import type { ClusterSettings } from '../../src/settings/cluster-settings.ts';
import { clock } from '../shared/clock.ts';
import { line, time } from './node-time.ts';
import type { Ending, Lead, Store, StoreSeams } from './store.ts';

export interface Parts {
  readonly etcd: MeteredEtcd;
  readonly keys: Keys;
  readonly log: NodeLog;
  readonly archive: Store['archive'];
  /** Random: of this run of the process, and of this copy of the log. */
  readonly run: string;
  readonly mirror: string;
  readonly resolved: Resolved;
}

/** As the loop's thread wants it. */
export class NodeLog extends ReplicatedLog {
  readonly created: boolean;

  constructor(options: ReplicatedLogOptions & { readonly mirror: LmdbLog }) {
    super(options);
    this.created = options.mirror.created;
  }
}

export class ClusterStore implements Store {
  readonly log: NodeLog;
  readonly archive: Store['archive'];
  private readonly seams: StoreSeams;
  private readonly etcd: MeteredEtcd;
  private readonly standby: Standby;
  private readonly node: ClusterNode;
  private readonly heard: HeardNote;
  private isElected = false;

  constructor(seams: StoreSeams, settings: ClusterSettings, parts: Parts) {
    const { data, say, progress } = seams;
    const { etcd, log, archive, run } = parts;
    this.seams = seams;
    this.etcd = etcd;
    this.log = log;
    this.archive = archive;
    this.heard = new HeardNote(data.dataDir, clock.monotonic, run);
    const digestText = (text: string) => digestOf(createHash('sha256').update(text).digest());
    this.standby = new Standby({ log, archive, digestText, events: {} });
    this.node = new ClusterNode({
      ...{ etcd, time, keys: parts.keys, version: data.version, heard: this.heard },
      ...settings,
      ids: { run, mirror: parts.mirror, machine: machineId() },
      failedStarts: data.failedStarts,
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
        catchUp: () => log.catchUp((record) => this.standby.took(record)),
        follow: (events) => log.follow(events, (record) => this.standby.took(record)),
      },
      copies: () => progress.copies.read(),
      written: () => etcd.written,
      counts: () => ({ resolved: { ...parts.resolved }, etcd_errors: etcd.errors }),
      leaseId: () => randomBytes(6).readUIntBE(0, 6) + 1,
      mayWrite: () => this.mayWrite(),
      standBack: (ms) => log.standBack(ms),
      shown: (view) => progress.cluster.write(view),
      lost: (error) => this.seams.die(error),
      tell: (level, msg, fields) => say(line(level, msg, fields)),
    });
  }

  async lead(): Promise<Lead | undefined> {
    const { signal, progress } = this.seams;
    const of = this.log.lastNumber;
    const isWarm = await this.standby.warmUp(signal, (records) => {
      progress.replay = { records, of };
    });
    if (!isWarm || !(await this.node.elected(signal))) return undefined;
    await this.standby.stop();
    this.isElected = true;
    const { epoch } = this.log.head;
    return {
      prepared: this.standby.replayer,
      inherited: () => this.heard.inherited(epoch),
      skip: this.log.head.gap ?? 0,
      noRoom: () => this.node.refusal,
    };
  }

  leading(epoch: number, now: () => number): void {
    this.node.leading(epoch, now);
    // Wall clocks of two machines differ: time goes on from the leader before.
    const clock_offset_ms = Math.round(now() - clock.wall());
    this.seams.say(line('info', 'this node leads', { epoch, clock_offset_ms }));
  }

  ending(error: unknown): Ending {
    const { failedStarts } = this.seams.data;
    const isOfEtcd = error instanceof LogError && error.cause instanceof EtcdError;
    if (isOfEtcd && this.seams.signal.aborted) return { told: undefined };
    const { code, message } = error as Error & { readonly code?: string };
    const isFenced = error instanceof LogError && code === 'LOG_FENCED';
    if (isFenced && (this.node.leads || this.log.isSetBack)) return { told: this.refused() };
    if (this.node.leads || !this.isElected) return { told: error };
    // Another node was faster: that is no failure of this one.
    const failed = isFenced ? failedStarts : failedStarts + 1;
    const isAgain = isFenced || code === 'CLOCK_REFUSED';
    if (!isAgain) return { told: error };
    const told = new ClusterError('NOT_STARTED', isFenced ? 'another node was faster' : message);
    return { told, followsAgain: { failedStarts: failed } };
  }

  abandon(): void {
    this.log.abandon();
  }

  async close(): Promise<void> {
    await this.standby.stop();
    await this.archive?.close();
    await Promise.all([this.log.close(), this.node.leave()]);
    this.etcd.close();
  }

  private async mayWrite(): Promise<boolean> {
    const confirmed = await this.log.confirm();
    if (confirmed === 'fenced') this.seams.die(this.refused());
    return confirmed === 'durable';
  }

  /** The log takes nothing of this process any more. */
  private refused(): Error {
    const { trouble: why = 'another node leads', isSetBack } = this.log;
    if (isSetBack) return new LogError('LOG_SET_BACK', why);
    const then = 'this process ends, and follows when it is started again';
    return new ClusterError('NOT_LEADER', `${why}: ${then}`);
  }
}

/**
 * Two copies on one machine are lost together, so each machine counts once. Containers on it share
 * the id of its boot, while other ids may come with an image and be the same on many machines.
 */
function machineId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return os.hostname();
  }
}
