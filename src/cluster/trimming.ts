// Owns what the leader deletes in etcd: the oldest groups of records, once etcd holds more than
// half of what it may, and only groups that enough live nodes hold in their own copies
// (log/etcd/trim.ts decides which). What is left is for nodes that were away, or that are being
// made. A round follows another after some time, or sooner when much is written or room is tight.
//
// First `trim` says what may go, and a round later it goes, in a transaction without a put, because
// an etcd that is full takes no puts. Each of the two rests on the reports that were counted, as
// they stand in etcd at that moment: a report that was taken back, or whose node is gone, lets
// nothing be deleted. So a leader that was deposed without knowing it deletes nothing that it
// should not.

import { type Condition, type Etcd, EtcdError, type EtcdStatus } from '../log/etcd/etcd.ts';
import { decodeManifest, type End } from '../log/etcd/group.ts';
import { type Keys, prefixEnd } from '../log/etcd/keys.ts';
import { look } from '../log/etcd/snapshot.ts';
import {
  chooseTrim,
  deletionRestsOn,
  holdersOf,
  isTrimmed,
  type Member,
} from '../log/etcd/trim.ts';
import { decodeTrimMark, encodeTrimMark } from '../log/etcd/trim-mark.ts';
import type { Hold } from './copy-holds.ts';
import { HoldersNotice } from './holders-notice.ts';
import { nextRemoves } from './next-removes.ts';
import { memberOf, type Reported, readNodes, readStanding } from './reports.ts';
import { type Measured, Room } from './room.ts';
import { RoomNotice, type Tell } from './room-notice.ts';
import { pause, type Time } from './time.ts';

export interface TrimmingOptions {
  readonly etcd: Pick<Etcd, 'range' | 'txn' | 'compact' | 'status'>;
  readonly keys: Keys;
  readonly time: Time;
  readonly tailMaxBytes: number;
  /** Bytes that this node has sent to etcd, ever growing. */
  written(): number;
  tell: Tell;
  /** After each round, and when the room becomes scarce or is enough again. */
  told(figures: TrimFigures): void;
}

export interface TrimFigures {
  /** Up to this record groups may be deleted in etcd. */
  readonly trimmed: number;
  /** Machines with a running node that holds all of that; absent: etcd has the whole log. */
  readonly holders?: number;
  /** What is in use of the fullest member's database. */
  readonly database_bytes: number;
  /** The least of the members' quotas; absent: they do not tell it. */
  readonly quota_bytes?: number;
  /** Members of etcd that answer. */
  readonly members: number;
}

/** A round begins after so much time, or after so much was written. */
const ROUND_MS = 10_000;
const ROUND_BYTES = 32 * 1024 * 1024;
/** Of a small quota the same share as of one of a gigabyte. */
const ROUND_SHARE = 1 / 32;
const TIGHT_ROUND_MS = 1_000;
const LOOK_MS = 250;
const SCANNED_GROUPS = 1_000;
/** Of what etcd may hold: so much is left there. */
const KEPT = 0.5;

export class Trimming {
  readonly room: Room;
  private readonly notice: RoomNotice;
  private readonly holdersNotice: HoldersNotice;
  private figures: TrimFigures | undefined;
  private readonly options: TrimmingOptions;
  /** When each node that does not run was last heard of. */
  private readonly heardAt = new Map<string, number>();
  private readonly ending = new AbortController();
  private going: Promise<void> = Promise.resolve();

  constructor(options: TrimmingOptions) {
    this.options = options;
    this.room = new Room(options.written);
    this.notice = new RoomNotice(this.room, options.tell);
    this.holdersNotice = new HoldersNotice(options.tell);
  }

  /** Why no new task is taken, in words; undefined: there is room. */
  get refusal(): string | undefined {
    if (this.notice.look() && this.figures !== undefined) this.options.told(this.figures);
    return this.room.refusal;
  }

  begin(): void {
    this.going = this.goOn();
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.going;
  }

  /** @throws EtcdError, LogError */
  async round(): Promise<void> {
    const { etcd, keys } = this.options;
    const { trim, revision } = await look(etcd, keys);
    const through = trim?.through ?? 0;
    const removedAt = through === 0 ? undefined : await this.remove(through);
    // Old revisions take room, too: each head and each beat has replaced the one before.
    await etcd.compact(removedAt ?? revision).catch(unlessCompacted);
    const writtenThen = this.options.written();
    const status = await etcd.status();
    if (status.length > 0) this.room.measure(measuredOf(status), writtenThen);
    const { usedBytes: database_bytes, quotaBytes } = this.room.measured;
    const excess = database_bytes - KEPT * this.mostBytes;
    const trimmed = excess > 0 ? await this.mark(through, excess, database_bytes) : through;
    const quota = quotaBytes === undefined ? {} : { quota_bytes: quotaBytes };
    const held = trimmed === 0 ? {} : { holders: await this.holders(trimmed) };
    this.figures = { trimmed, ...held, database_bytes, ...quota, members: status.length };
    this.notice.look();
    this.options.told(this.figures);
  }

  /** @returns machines with a running node that holds the log up to this record. */
  private async holders(through: number): Promise<number> {
    const { etcd, keys } = this.options;
    const holders = holdersOf(this.membersOf(await readNodes(etcd, keys)), through);
    this.holdersNotice.look(holders, through);
    return holders;
  }

  /** What etcd may hold before absent nodes are left behind. */
  private get mostBytes(): number {
    return Math.min(this.options.tailMaxBytes, this.room.tightBytes);
  }

  private async goOn(): Promise<void> {
    const { signal } = this.ending;
    // The first round is at once: the quota is not known before.
    while (!signal.aborted) {
      // Whatever went wrong, the next round begins with what then stands in etcd.
      await this.round().catch(() => {});
      await this.untilDue();
    }
  }

  private async untilDue(): Promise<void> {
    const { time, written } = this.options;
    const { signal } = this.ending;
    const { quotaBytes = Number.POSITIVE_INFINITY } = this.room.measured;
    const bytes = Math.min(ROUND_BYTES, ROUND_SHARE * quotaBytes);
    const [began, before] = [time.monotonic(), written()];
    while (!signal.aborted) {
      await pause(time, LOOK_MS, signal);
      const roundMs = this.room.level === 'enough' ? ROUND_MS : TIGHT_ROUND_MS;
      if (time.monotonic() - began >= roundMs || written() - before >= bytes) return;
    }
  }

  /** @returns up to which record groups may go from now on. */
  private async mark(through: number, excess: number, tailBytes: number): Promise<number> {
    const { etcd, keys } = this.options;
    const tailMaxBytes = this.mostBytes;
    const { nodes, holds } = await readStanding(etcd, keys);
    const members = this.membersOf(nodes);
    const held = holds.map(({ last }) => last);
    const chosen = chooseTrim({ members, holds: held, through, tailBytes, tailMaxBytes });
    const end = chosen && (await this.oldest(excess, chosen.through));
    if (chosen === undefined || end === undefined || end.last <= through) return through;
    const [kv] = (await etcd.range(keys.trim, undefined)).kvs;
    // Another leader may have gone further meanwhile, and the mark never goes back.
    if ((kv ? decodeTrimMark(kv.value).through : 0) !== through) return through;
    const unchanged = { key: keys.trim, modRevision: kv?.modRevision ?? 0 };
    const conditions = [unchanged, ...standing(keys, nodes, chosen.counted)];
    const value = encodeTrimMark({ through: end.last, check: end.check });
    const { passed } = await etcd.txn(conditions, [{ put: keys.trim, value }]);
    if (!passed) return through;
    for (const hold of holds) if (hold.last >= through && hold.last < end.last) this.leave(hold);
    return end.last;
  }

  private leave({ by, last }: Hold): void {
    const msg =
      'etcd keeps no more records for a copy of the log: a node that is started on the copy is ' +
      'refused with LOG_BEHIND';
    this.options.tell('warn', msg, { sent_by: by, copied: last });
  }

  /** @returns the end of the oldest groups that come to so many bytes and not beyond `allowed`. */
  private async oldest(bytes: number, allowed: number): Promise<End | undefined> {
    const { etcd, keys } = this.options;
    const range = { limit: SCANNED_GROUPS };
    const { kvs } = await etcd.range(keys.groups, prefixEnd(keys.groups), range);
    const groups = kvs.map(({ key, value }) => decodeManifest(key, value));
    let left = bytes;
    let end: End | undefined;
    for (const [at, group] of groups.entries()) {
      const next = groups[at + 1];
      // The checksum of a group's last record stands in the group after it.
      if (next === undefined || left <= 0 || !isTrimmed(group, allowed)) break;
      end = { last: group.last, check: next.afterCheck };
      left -= group.bytes;
    }
    return end;
  }

  /** @returns the revision of the last deletion; undefined: nothing was deleted. */
  private async remove(through: number): Promise<number | undefined> {
    const { etcd, keys } = this.options;
    for (let revision: number | undefined; ; ) {
      const removes = await nextRemoves(etcd, keys, through);
      const nodes = await readNodes(etcd, keys);
      const counted = deletionRestsOn(this.membersOf(nodes), through);
      if (removes.length === 0 || counted === undefined) return revision;
      const answer = await etcd.txn(standing(keys, nodes, counted), removes);
      if (!answer.passed || this.ending.signal.aborted) return revision;
      revision = answer.revision;
    }
  }

  private membersOf(nodes: readonly Reported[]): Member[] {
    const now = this.options.time.monotonic();
    return nodes.map((one) => {
      const { node, report } = one;
      if (report !== undefined || !this.heardAt.has(node)) this.heardAt.set(node, now);
      return memberOf(one, now - (this.heardAt.get(node) ?? now));
    });
  }
}

function measuredOf(status: readonly EtcdStatus[]): Measured {
  const quotas = status.flatMap(({ quotaBytes }) => quotaBytes ?? []);
  return {
    usedBytes: Math.max(...status.map(({ dbBytesInUse }) => dbBytesInUse)),
    quotaBytes: quotas.length === 0 ? undefined : Math.min(...quotas),
  };
}

/** The reports that a decision rests on stand as they were read. */
const standing = (
  keys: Keys,
  nodes: readonly Reported[],
  counted: readonly string[],
): Condition[] =>
  nodes
    .filter(({ node }) => counted.includes(node))
    .map(({ node, revision }) => ({ key: keys.node(node), modRevision: revision }));

function unlessCompacted(error: unknown): void {
  if (!(error instanceof EtcdError) || error.code !== 'compacted') throw error;
}
