// Owns the keys of an etcd in memory: every version of each key since the last compaction, by
// revision, as etcd's own store keeps them. It knows no lease, quota, network or time.

import { EtcdError, type KeyValue, type WatchEvent } from '../../../src/log/etcd/etcd.ts';

/** undefined: the key was removed at this revision. */
type Version = { readonly revision: number; readonly kv: KeyValue | undefined };

export interface Change {
  readonly revision: number;
  readonly events: readonly WatchEvent[];
}

/** What etcd keeps of a version besides key and value, roughly. */
const OVERHEAD_BYTES = 64;

export class Keyspace {
  revision = 1;
  /** Reads and watches before this revision are refused. */
  compacted = 0;
  bytesInUse = 0;
  private readonly versions = new Map<string, Version[]>();
  /** All keys that have a version, in order. */
  private readonly keys: string[] = [];
  private changes: Change[] = [];
  /** Of the transaction that is being carried out. */
  private events: WatchEvent[] | undefined;

  /** Everything that this does is one revision, or none when it changes nothing. */
  write<T>(act: () => T): T {
    this.events = [];
    try {
      return act();
    } finally {
      const { events } = this;
      this.events = undefined;
      if (events.length > 0) {
        this.revision += 1;
        this.changes.push({ revision: this.revision, events });
      }
    }
  }

  /** The revision that what is written now will have. */
  private get next(): number {
    return this.revision + 1;
  }

  put(key: string, value: Uint8Array, lease?: number): void {
    const kv = { key, value, modRevision: this.next, ...(lease !== undefined && { lease }) };
    this.add(key, { revision: this.next, kv });
    this.bytesInUse += sizeOf(kv);
    this.events?.push({ type: 'put', kv });
  }

  remove(key: string): void {
    if (this.get(key) === undefined) return;
    this.add(key, { revision: this.next, kv: undefined });
    this.bytesInUse += OVERHEAD_BYTES;
    this.events?.push({ type: 'remove', key, modRevision: this.next });
  }

  get(key: string, revision = Number.POSITIVE_INFINITY): KeyValue | undefined {
    return this.versions.get(key)?.findLast((version) => version.revision <= revision)?.kv;
  }

  /** @param end undefined: the one key. @throws EtcdError compacted, refused */
  range(key: string, end: string | undefined, revision = 0): KeyValue[] {
    if (revision > this.revision) {
      throw new EtcdError('refused', 'mvcc: required revision is a future revision');
    }
    if (revision > 0 && revision < this.compacted) throw wasCompacted();
    const at = revision === 0 ? Number.POSITIVE_INFINITY : revision;
    if (end === undefined) return [this.get(key, at)].filter((kv) => kv !== undefined);
    const found: KeyValue[] = [];
    for (let n = this.placeOf(key); n < this.keys.length; n += 1) {
      const name = this.keys[n] as string;
      if (name >= end) break;
      const kv = this.get(name, at);
      if (kv !== undefined) found.push(kv);
    }
    return found;
  }

  /** @returns what changed from this revision on. @throws EtcdError compacted */
  changesFrom(revision: number): readonly Change[] {
    if (revision < this.compacted) throw wasCompacted();
    let first = this.changes.length;
    while (first > 0 && (this.changes[first - 1] as Change).revision >= revision) first -= 1;
    return this.changes.slice(first);
  }

  /** Forgets all versions that are not the newest at this revision. @throws EtcdError */
  compact(revision: number): void {
    if (revision > this.revision) {
      throw new EtcdError('refused', 'mvcc: required revision is a future revision');
    }
    if (revision <= this.compacted) throw wasCompacted();
    this.compacted = revision;
    this.changes = this.changes.filter((change) => change.revision >= revision);
    for (const [key, versions] of this.versions) this.compactKey(key, versions, revision);
  }

  /** A copy that changes with nobody. */
  copy(): Keyspace {
    const other = new Keyspace();
    other.revision = this.revision;
    other.compacted = this.compacted;
    other.bytesInUse = this.bytesInUse;
    for (const [key, versions] of this.versions) other.versions.set(key, versions.slice());
    other.keys.push(...this.keys);
    other.changes = this.changes.slice();
    return other;
  }

  private compactKey(key: string, versions: readonly Version[], revision: number): void {
    const newest = versions.findLastIndex((version) => version.revision <= revision);
    if (newest < 0) return;
    const isGone = versions[newest]?.kv === undefined;
    const kept = versions.slice(isGone ? newest + 1 : newest);
    for (const { kv } of versions.slice(0, versions.length - kept.length)) {
      this.bytesInUse -= kv === undefined ? OVERHEAD_BYTES : sizeOf(kv);
    }
    if (kept.length > 0) this.versions.set(key, kept);
    else {
      this.versions.delete(key);
      this.keys.splice(this.placeOf(key), 1);
    }
  }

  private add(key: string, version: Version): void {
    const versions = this.versions.get(key);
    if (versions !== undefined) versions.push(version);
    else {
      this.versions.set(key, [version]);
      this.keys.splice(this.placeOf(key), 0, key);
    }
  }

  /** Where this key stands in the order, or would. */
  private placeOf(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const sizeOf = ({ key, value }: KeyValue): number => OVERHEAD_BYTES + key.length + value.length;

const wasCompacted = (): EtcdError =>
  new EtcdError('compacted', 'mvcc: required revision has been compacted');
