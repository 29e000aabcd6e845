// Owns an etcd in memory: what the three members of a cluster come to when one looks at all of
// them at once. Its calls take effect at once; the network before it is faulty-network.ts. Time is
// told to it. Each rule here is one that the real etcd keeps; etcd-rules.ts plays them over both.

import {
  type Condition,
  EtcdError,
  type EtcdStatus,
  type Operation,
  type RangeAnswer,
  type RangeOptions,
  type TxnAnswer,
} from '../../../src/log/etcd/etcd.ts';
import { type Change, Keyspace } from './keyspace.ts';

/** The least time to live that etcd grants with its default election time-out, in seconds. */
const LEASE_TTL_MIN = 2;
const OPERATIONS_MAX = 128;
const REQUEST_MAX_BYTES = 1.5 * 1024 * 1024;
/** What etcd counts for a put besides key and value, when it looks at the quota. */
const PUT_COST_BYTES = 256;
const VERSION = '3.4.23';

interface Lease {
  readonly ttlMs: number;
  expiresAt: number;
  readonly keys: Set<string>;
}

/** All that a snapshot holds, and restoring it brings back. */
interface Snapshot {
  readonly keyspace: Keyspace;
  readonly leases: ReadonlyMap<number, Lease>;
}

type ChangeListener = (change: Change, sender: string) => void;

export interface MemoryEtcdOptions {
  readonly members?: number;
  readonly quotaBytes?: number;
}

export class MemoryEtcd {
  /** In ms; moved by whoever owns it, and never back. */
  private now = 0;
  private keyspace = new Keyspace();
  private leases = new Map<number, Lease>();
  private leaseOf = new Map<string, number>();
  private readonly members: boolean[];
  private readonly quotaBytes: number;
  private allocatedBytes = 0;
  private readonly standing = new Set<string>();
  /** Counts restores: a watch of before one is over. */
  generation = 0;
  /** Whose request is being carried out; '' when time or an operator does it. */
  sender = '';
  private readonly listeners = new Set<ChangeListener>();

  constructor({ members = 3, quotaBytes = 2 ** 31 }: MemoryEtcdOptions = {}) {
    this.members = Array.from({ length: members }, () => true);
    this.quotaBytes = quotaBytes;
  }

  get revision(): number {
    return this.keyspace.revision;
  }

  /** The listener is told of each change, right after it was made. @returns ends it. */
  onChange(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Carries out what this sender asks for. */
  by<T>(sender: string, act: (etcd: MemoryEtcd) => T): T {
    this.sender = sender;
    try {
      return act(this);
    } finally {
      this.sender = '';
    }
  }

  get hasQuorum(): boolean {
    return 2 * this.members.filter((isUp) => isUp).length > this.members.length;
  }

  /** Lets a member stop or start. A new leader gives every lease its whole time to live again. */
  setMember(index: number, isUp: boolean): void {
    const had = this.hasQuorum;
    this.members[index] = isUp;
    if (this.hasQuorum && (!had || !isUp)) this.extendLeases();
  }

  /** Time has come to this; leases that have run out are gone, each with its keys. */
  advance(now: number): void {
    this.now = Math.max(this.now, now);
    if (!this.hasQuorum) return;
    for (const [id, { expiresAt }] of this.leases) if (expiresAt <= this.now) this.endLease(id);
  }

  txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise: readonly Operation[] = [],
  ): TxnAnswer {
    const cost = Math.max(costOf(then), costOf(otherwise));
    for (const list of [conditions, then, otherwise]) {
      if (list.length > OPERATIONS_MAX) throw refused('too many operations in txn request');
    }
    if (bytesIn(then) + bytesIn(otherwise) > REQUEST_MAX_BYTES) {
      throw refused('request is too large');
    }
    for (const list of [then, otherwise]) this.assertOnce(list);
    if (cost > 0) this.assertRoom(cost);
    const passed = conditions.every((condition) => this.holds(condition));
    const chosen = passed ? then : otherwise;
    for (const operation of chosen) {
      if (!('put' in operation) || operation.lease === undefined) continue;
      if (!this.leases.has(operation.lease)) throw refused('requested lease not found');
    }
    const found: TxnAnswer['found'][number][] = [];
    this.changing(() => {
      for (const operation of chosen) {
        if ('get' in operation) found.push(this.keyspace.range(operation.get, operation.end));
        else this.carryOut(operation);
      }
    });
    return { passed, revision: this.revision, found };
  }

  range(key: string, end: string | undefined, options: RangeOptions = {}): RangeAnswer {
    const all = this.keyspace.range(key, end, options.revision);
    const { limit = 0 } = options;
    const kvs = limit > 0 ? all.slice(0, limit) : all;
    return { kvs, more: kvs.length < all.length, revision: this.revision };
  }

  changesFrom(revision: number): readonly Change[] {
    return this.keyspace.changesFrom(revision);
  }

  grantLease(id: number, ttlSeconds: number): number {
    if (this.standing.has('NOSPACE')) throw noSpace();
    if (this.leases.has(id)) throw refused('lease already exists');
    const ttl = Math.max(LEASE_TTL_MIN, ttlSeconds);
    this.leases.set(id, { ttlMs: ttl * 1_000, expiresAt: this.now + ttl * 1_000, keys: new Set() });
    return ttl;
  }

  keepLease(id: number): number {
    const lease = this.leases.get(id);
    if (lease === undefined) return 0;
    lease.expiresAt = this.now + lease.ttlMs;
    return lease.ttlMs / 1_000;
  }

  revokeLease(id: number): void {
    if (!this.leases.has(id)) throw refused('requested lease not found');
    this.endLease(id);
  }

  compact(revision: number): void {
    this.keyspace.compact(revision);
  }

  /** Gives the room of what was compacted back; only then is there room under a quota again. */
  defragment(): void {
    this.allocatedBytes = this.keyspace.bytesInUse;
  }

  alarms(): readonly string[] {
    return [...this.standing];
  }

  raise(alarm: 'NOSPACE' | 'CORRUPT'): void {
    this.standing.add(alarm);
  }

  /** The operator's word that there is room again. */
  disarm(): void {
    this.standing.clear();
  }

  status(): readonly EtcdStatus[] {
    const dbBytesInUse = this.keyspace.bytesInUse;
    const leader = String(this.members.indexOf(true));
    return [...this.members.entries()]
      .filter(([, isUp]) => isUp)
      .map(([member]) => {
        const dbBytes = this.allocatedBytes;
        const { quotaBytes } = this;
        const sizes = { dbBytes, dbBytesInUse, quotaBytes };
        return { version: VERSION, ...sizes, leader, member: String(member) };
      });
  }

  snapshot(): Snapshot {
    const leases = new Map<number, Lease>();
    for (const [id, lease] of this.leases) leases.set(id, { ...lease, keys: new Set(lease.keys) });
    return { keyspace: this.keyspace.copy(), leases };
  }

  /** Puts an old snapshot in the place of everything: revisions are issued a second time. */
  restore({ keyspace, leases }: Snapshot): void {
    this.keyspace = keyspace.copy();
    this.leases = new Map();
    this.leaseOf = new Map();
    for (const [id, { ttlMs, keys }] of leases) {
      const expiresAt = this.now + ttlMs;
      this.leases.set(id, { ttlMs, expiresAt, keys: new Set(keys) });
      for (const key of keys) this.leaseOf.set(key, id);
    }
    this.generation += 1;
  }

  private changing(act: () => void): void {
    const before = this.revision;
    this.keyspace.write(act);
    const size = this.keyspace.bytesInUse;
    this.allocatedBytes = Math.max(this.allocatedBytes, size);
    if (this.revision === before) return;
    const [change] = this.keyspace.changesFrom(this.revision);
    if (change === undefined) return;
    for (const listener of this.listeners) listener(change, this.sender);
  }

  private carryOut(operation: Exclude<Operation, { readonly get: string }>): void {
    if ('put' in operation) {
      const { put: key, value, lease } = operation;
      this.unbind(key);
      this.keyspace.put(key, value, lease);
      if (lease === undefined) return;
      this.leases.get(lease)?.keys.add(key);
      this.leaseOf.set(key, lease);
      return;
    }
    const { remove, end } = operation;
    for (const { key } of this.keyspace.range(remove, end)) {
      this.unbind(key);
      this.keyspace.remove(key);
    }
  }

  private unbind(key: string): void {
    const lease = this.leaseOf.get(key);
    if (lease === undefined) return;
    this.leases.get(lease)?.keys.delete(key);
    this.leaseOf.delete(key);
  }

  private endLease(id: number): void {
    const keys = [...(this.leases.get(id)?.keys ?? [])].sort();
    this.leases.delete(id);
    this.changing(() => {
      for (const key of keys) {
        this.leaseOf.delete(key);
        this.keyspace.remove(key);
      }
    });
  }

  private extendLeases(): void {
    for (const lease of this.leases.values()) lease.expiresAt = this.now + lease.ttlMs;
  }

  private holds(condition: Condition): boolean {
    const kv = this.keyspace.get(condition.key);
    if ('modRevision' in condition) return (kv?.modRevision ?? 0) === condition.modRevision;
    // An absent key has no value, not an empty one.
    return kv !== undefined && Buffer.compare(kv.value, condition.value) === 0;
  }

  /** etcd refuses a transaction that puts a key twice, or puts and removes it. */
  private assertOnce(operations: readonly Operation[]): void {
    const puts = operations.filter((operation) => 'put' in operation).map(({ put }) => put);
    const isTwice = new Set(puts).size < puts.length;
    const isRemoved = operations.some(
      (operation) =>
        'remove' in operation &&
        puts.some((key) =>
          operation.end === undefined
            ? key === operation.remove
            : key >= operation.remove && key < operation.end,
        ),
    );
    if (isTwice || isRemoved) throw refused('duplicate key given in txn request');
  }

  /** Under the alarm nothing with a put is taken, whichever branch it is in. */
  private assertRoom(cost: number): void {
    if (this.allocatedBytes + cost >= this.quotaBytes) this.standing.add('NOSPACE');
    if (this.standing.has('NOSPACE')) throw noSpace();
  }
}

/** The answer of a member that sees no majority, and of no member at all. */
export const noAnswer = (): EtcdError => new EtcdError('no_answer', 'no answer in time');

const noSpace = (): EtcdError =>
  new EtcdError('no_space', 'etcdserver: mvcc: database space exceeded');
const refused = (why: string): EtcdError => new EtcdError('refused', `etcdserver: ${why}`);

const bytesIn = (operations: readonly Operation[]): number =>
  operations.reduce((sum, one) => sum + ('put' in one ? one.put.length + one.value.length : 0), 0);

const costOf = (operations: readonly Operation[]): number => {
  const puts = operations.filter((operation) => 'put' in operation).length;
  return puts === 0 ? 0 : bytesIn(operations) + puts * PUT_COST_BYTES;
};
