// Owns what a node says of itself to the others: that it runs, where, and how far its own log has
// followed. The report lies under an etcd lease and goes when the node does; that the node belongs
// to the cluster is a key of its own, which stays.

import type { Etcd } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import type { SentCopy } from '../model/sent-copy.ts';
import { ClusterError } from './cluster-error.ts';
import { Holds } from './copy-holds.ts';
import {
  decodeReport,
  encodeRegistration,
  encodeReport,
  type NodeReport,
  registrationsOf,
} from './reports.ts';
import { pause, type Time } from './time.ts';

export interface PresenceOptions {
  readonly etcd: Pick<Etcd, 'txn' | 'grantLease' | 'keepLease' | 'revokeLease'>;
  readonly keys: Keys;
  readonly node: string;
  readonly time: Time;
  leaseId(): number;
  /** As of now. */
  report(): NodeReport;
  /** As of now: the copies of this node's log that are being sent, or were of late. */
  copies(): readonly SentCopy[];
  /** Another process runs as this node, on a copy of this one's directory: this one must end. */
  lost(error: ClusterError): void;
  tell(level: 'info' | 'warn', msg: string, fields: Readonly<Record<string, unknown>>): void;
}

/** So long a node counts as running after its last sign of life. */
export const PRESENCE_SECONDS = 10;
const REPORT_MS = 1_000;
/** A node that died under this name is forgotten within so long. */
const OUTLIVES_MS = (PRESENCE_SECONDS + 2) * 1_000;

export class Presence {
  private readonly options: PresenceOptions;
  private readonly holds: Holds;
  private leaseId = 0;
  private told = '';
  private nameTakenBy: string | undefined;
  /** Since its first report this process knows itself as the one that runs on its copy. */
  private hasReported = false;
  private readonly ending = new AbortController();
  private reporting: Promise<void> = Promise.resolve();

  private constructor(options: PresenceOptions) {
    this.options = options;
    this.holds = new Holds(options);
  }

  /**
   * Takes the node's name. A name that another copy of the log has is waited for as long as its
   * node might have died.
   * @throws ClusterError NODE_NAME, EtcdError
   */
  static async announce(options: PresenceOptions, signal: AbortSignal): Promise<Presence> {
    const presence = new Presence(options);
    const { time } = options;
    const until = time.monotonic() + OUTLIVES_MS;
    for (;;) {
      const other = await presence.take(await presence.reported());
      if (other === undefined || signal.aborted) break;
      if (time.monotonic() >= until) {
        await presence.withdraw();
        throw nameTaken(options.node, other, options.report());
      }
      await pause(time, REPORT_MS, signal);
    }
    presence.reporting = presence.goOn();
    return presence;
  }

  /** The node runs no more. Never rejects. */
  async withdraw(): Promise<void> {
    this.ending.abort();
    await this.reporting;
    await this.holds.end();
    if (this.leaseId !== 0) await this.options.etcd.revokeLease(this.leaseId).catch(() => {});
  }

  private async goOn(): Promise<void> {
    const { signal } = this.ending;
    for (;;) {
      await pause(this.options.time, REPORT_MS, signal);
      if (signal.aborted) return;
      await this.tell().catch(() => {});
    }
  }

  private async tell(): Promise<void> {
    const { etcd } = this.options;
    if ((await etcd.keepLease(this.leaseId)) === 0) {
      await etcd.revokeLease(this.leaseId).catch(() => {});
      this.leaseId = 0;
      this.told = '';
    }
    const report = await this.reported();
    if (JSON.stringify(report) !== this.told || !(await this.stands())) {
      this.tellName(await this.take(report));
    }
  }

  /**
   * The report is made first, and the holds stand in etcd before the report does: so nobody reads
   * how far this node's log goes without the copies that were begun before.
   */
  private async reported(): Promise<NodeReport> {
    const report = this.options.report();
    await this.holds.tell();
    return report;
  }

  /** @returns whether this process's own report is the one in etcd. */
  private async stands(): Promise<boolean> {
    const { etcd, keys, node } = this.options;
    const { found } = await etcd.txn([], [{ get: keys.node(node) }]);
    return found[0]?.[0]?.lease === this.leaseId;
  }

  /** A node that did not run for a while may find that another one has taken its name. */
  private tellName(other: NodeReport | undefined): void {
    const { tell, node } = this.options;
    if (other?.mirror === this.options.report().mirror) return this.end(other);
    const by = other?.url;
    if (by === this.nameTakenBy) return;
    this.nameTakenBy = by;
    if (by === undefined) return tell('info', 'this node has its name again', { node });
    tell('warn', 'another node has the name of this one; give one of them another', { node, by });
  }

  /** Puts the report, unless another node stands there. @returns that node's report. */
  private async take(report: NodeReport): Promise<NodeReport | undefined> {
    const { etcd, keys, node } = this.options;
    if (this.leaseId === 0) {
      const id = this.options.leaseId();
      await etcd.grantLease(id, PRESENCE_SECONDS);
      this.leaseId = id;
    }
    const key = keys.node(node);
    for (let modRevision = 0; ; ) {
      const puts = this.puts(report);
      const answer = await etcd.txn([{ key, modRevision }], puts, [{ get: key }]);
      if (answer.passed) {
        this.told = JSON.stringify(report);
        this.hasReported = true;
        return undefined;
      }
      const [kv] = answer.found[0] ?? [];
      const other = kv && decodeReport(key, kv.value);
      const isOwn = kv?.lease === this.leaseId;
      if (other !== undefined && !isOwn && !this.replaces(other, report)) return other;
      // A report that was found goes with its lease at any moment: then nobody stands there.
      modRevision = kv?.modRevision ?? 0;
    }
  }

  /**
   * The same copy on the same machine is this node, before it was started again: the lock of the
   * directory says so. On another machine, or once this process has reported, it is a process on a
   * directory that was copied with all that is in it.
   */
  private replaces(other: NodeReport, own: NodeReport): boolean {
    return !this.hasReported && other.mirror === own.mirror && other.machine === own.machine;
  }

  private end(other: NodeReport): void {
    this.ending.abort();
    this.options.lost(nameTaken(this.options.node, other, this.options.report()));
  }

  private puts(report: NodeReport) {
    const { keys, node } = this.options;
    const own = { put: keys.node(node), value: encodeReport(report), lease: this.leaseId };
    const registration = {
      put: `${registrationsOf(keys)}${node}`,
      value: encodeRegistration(report),
    };
    // The report says from now on what this copy lacks.
    const release = { remove: keys.hold(report.mirror) };
    return this.told === '' ? [own, registration, release] : [own];
  }
}

function nameTaken(node: string, { url, mirror }: NodeReport, own: NodeReport): ClusterError {
  const runs = `another node named ${node} runs, at ${url}`;
  const name = 'give this one another --node-name';
  if (mirror !== own.mirror) return new ClusterError('NODE_NAME', `${runs}; ${name}`);
  const why = 'on a copy of the directory of this one, or this one runs on a copy of that';
  const copy = 'make a copy for a further node with `leasehold backup --node`';
  return new ClusterError('NODE_NAME', `${runs}, ${why}: ${copy}, and ${name}`);
}
