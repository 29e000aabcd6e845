// Owns the trimming of etcd in a simulated cluster: each process reports how far its mirror is,
// under a lease; the leader trims by the product's own rule (log/etcd/trim.ts), on the condition
// that the reports still stand. Beside it stands what must be true of every deletion.

import { checksumOf, encodeRecord } from '../../../src/log/codec.ts';
import type { Condition, KeyValue } from '../../../src/log/etcd/etcd.ts';
import {
  chooseTrim,
  deletionRestsOn,
  isTrimmed,
  type Member as TrimMember,
} from '../../../src/log/etcd/trim.ts';
import { decodeTrimMark, encodeTrimMark } from '../../../src/log/etcd/trim-mark.ts';
import { Violation } from '../checkers/violation.ts';
import type { Cluster } from './cluster.ts';
import { PREFIX } from './layout.ts';
import type { Member } from './member.ts';

const LEASE_SECONDS = 2;
const REPORT_MS = 500;
const GROUPS_A_ROUND = 200;
/** A deletion must leave its records on so many disks. */
const DISKS_MIN = 2;

interface Report {
  readonly mirrored: number;
  readonly revision: number;
}

interface Seen {
  report: Report | undefined;
  at: number;
}

export class Trimming {
  private readonly cluster: Cluster;
  private leases = 0;
  private readonly seen = new Map<string, Seen>();
  /** How often something was deleted in etcd. */
  trims = 0;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
    cluster.agreed.onTrim = (last) => this.check(last);
  }

  /** The process says what it has, as long as it lives; while it leads, it trims, too. */
  report(member: Member): void {
    const { events, settings } = this.cluster;
    const report = async (leaseId: number, granted: boolean): Promise<void> => {
      if (member.phase === 'over') return;
      const id = granted ? leaseId : this.newLease();
      const isStanding = await this.tell(member, id, granted).catch(() => granted);
      events.after(REPORT_MS, () => void report(id, isStanding));
    };
    void report(0, false);
    const trim = async (): Promise<void> => {
      if (member.phase === 'over') return;
      const isLeading = member.phase === 'leading' && member.loop?.view.mode === 'serving';
      if (isLeading) await this.round(member).catch(() => {});
      events.after(settings.trimEveryMs, () => void trim());
    };
    events.after(settings.trimEveryMs, () => void trim());
  }

  private newLease(): number {
    this.leases += 1;
    return this.leases;
  }

  /** @returns whether the lease stands. */
  private async tell(member: Member, lease: number, granted: boolean): Promise<boolean> {
    const { network, machine } = member;
    if (!granted) await network.grantLease(lease, LEASE_SECONDS);
    else if ((await network.keepLease(lease)) === 0) return false;
    const { name } = machine;
    const value = Buffer.from(JSON.stringify({ mirrored: machine.mirror.last }));
    const report = { put: `${PREFIX}sim-live/${name}`, value, lease };
    await network.txn(
      [],
      [report, { put: `${PREFIX}sim-nodes/${name}`, value: Buffer.from(name) }],
    );
    return true;
  }

  private async round(member: Member): Promise<void> {
    const { network } = member;
    const all = (name: string) => ({ get: `${PREFIX}${name}/`, end: `${PREFIX}${name}/~` });
    const asked = [all('sim-nodes'), all('sim-live'), { get: `${PREFIX}trim` }];
    const { found, revision } = await network.txn([], asked);
    const [nodes = [], live = [], [trim] = []] = found;
    const through = trim === undefined ? 0 : decodeTrimMark(trim.value).through;
    const members = this.membersOf(nodes, live);
    const standing = (names: readonly string[]): Condition[] =>
      names.map((name) => {
        const key = `${PREFIX}sim-live/${name}`;
        return { key, modRevision: live.find((kv) => kv.key === key)?.modRevision ?? 0 };
      });
    const holders = deletionRestsOn(members, through);
    if (holders !== undefined) await this.remove(member, through, standing(holders));
    const [status] = await network.status();
    const chosen = chooseTrim({
      members,
      holds: [],
      through,
      tailBytes: status?.dbBytesInUse ?? 0,
      tailMaxBytes: this.cluster.settings.tailMaxBytes,
    });
    if (chosen !== undefined) {
      const conditions = standing(chosen.counted);
      conditions.push({ key: `${PREFIX}trim`, modRevision: trim?.modRevision ?? 0 });
      const record = member.log?.get(chosen.through);
      // A record that was forgotten meanwhile has no checksum to tell.
      if (record === undefined) return;
      const check = checksumOf(encodeRecord(record));
      const value = encodeTrimMark({ through: chosen.through, check });
      await network.txn(conditions, [{ put: `${PREFIX}trim`, value }]);
    }
    await network.compact(revision);
  }

  /** What an earlier round has put down as trimmed: deletes alone, so a full etcd takes them. */
  private async remove(
    { network }: Member,
    through: number,
    conditions: readonly Condition[],
  ): Promise<void> {
    const limit = GROUPS_A_ROUND;
    const { kvs } = await network.range(`${PREFIX}g/`, `${PREFIX}g/~`, { limit });
    const groups = kvs.map((kv) => JSON.parse(textOf(kv)) as { first: number; last: number });
    const kept = groups.findIndex((group) => !isTrimmed(group, through));
    const count = kept === -1 ? groups.length : kept;
    const last = groups[count - 1];
    if (last === undefined) return;
    const end = last.first.toString(16).padStart(14, '0');
    const removed = ['g', 'c'].map((kind) => {
      return { remove: `${PREFIX}${kind}/`, end: `${PREFIX}${kind}/${end}~` };
    });
    await network.txn(conditions, removed);
    this.trims += 1;
  }

  private membersOf(nodes: readonly KeyValue[], live: readonly KeyValue[]): TrimMember[] {
    const { now } = this.cluster.events;
    return nodes.map((node) => {
      const name = textOf(node);
      const kv = live.find(({ key }) => key === `${PREFIX}sim-live/${name}`);
      const known = this.seen.get(name) ?? { report: undefined, at: now };
      if (kv !== undefined) {
        const { mirrored } = JSON.parse(textOf(kv)) as { mirrored: number };
        known.report = { mirrored, revision: kv.modRevision };
        known.at = now;
      }
      this.seen.set(name, known);
      const isLive = kv !== undefined;
      const { report, at } = known;
      return { node: name, machine: name, mirrored: report?.mirrored, isLive, silentMs: now - at };
    });
  }

  /** Whatever the rule was, what is deleted lies on two disks. */
  private check(last: number): void {
    const holders = this.cluster.machines.filter(({ mirror }) => mirror.last >= last);
    if (holders.length >= DISKS_MIN) return;
    const what = `etcd has deleted record ${last}, and ${holders.length} disks hold it`;
    throw new Violation('trim', what);
  }
}

const textOf = (kv: KeyValue): string => Buffer.from(kv.value).toString();
