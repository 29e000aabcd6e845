// Owns the talk with etcd in types: the few calls that leasehold makes, and what may be believed
// of their answers. One file speaks gRPC (grpc-etcd); the simulator has its own etcd behind the
// same types.
//
// No call repeats itself. An error of a call that writes says nothing about whether the write took
// place: the request may have been lost, its answer may have been lost, or it may still arrive.

/** A member that does not answer is tried again after so long at most, give or take a fifth. */
export const RECONNECT_MAX_MS = 200;
/** So much earlier one client may reach a member that is there again than another client does. */
export const RECONNECT_LATE_MS = 300;

/** A key and its value. `modRevision` is the revision of the newest put of this key. */
export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly modRevision: number;
  /** The lease under which that put was; absent: under none. */
  readonly lease?: number;
}

/** A condition on one key. `modRevision: 0` means that the key is absent. */
export type Condition =
  | { readonly key: string; readonly modRevision: number }
  | { readonly key: string; readonly value: Uint8Array };

/** `end` makes a range: all keys from `key` up to, not including, `end`. */
export type Operation =
  | { readonly put: string; readonly value: Uint8Array; readonly lease?: number }
  | { readonly remove: string; readonly end?: string }
  | { readonly get: string; readonly end?: string };

export interface TxnAnswer {
  /** True when every condition held and `then` was carried out; else `otherwise` was. */
  readonly passed: boolean;
  /** The store's revision after the transaction; a put in it has this modRevision. */
  readonly revision: number;
  /** For each `get` of the branch that was carried out, in order: what it found. */
  readonly found: readonly (readonly KeyValue[])[];
}

export interface RangeOptions {
  /** At most this many keys; more are said by `more`. */
  readonly limit?: number;
  /** As of this revision. Default: the newest, by a linearizable read. */
  readonly revision?: number;
}
export interface RangeAnswer {
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  readonly revision: number;
}

export type WatchEvent =
  | { readonly type: 'put'; readonly kv: KeyValue }
  | { readonly type: 'remove'; readonly key: string; readonly modRevision: number };

export interface WatchListener {
  /** The events of one revision or of several, whole revisions only, in order. Empty: a progress
   * notification, everything up to `revision` has been shown. */
  events(events: readonly WatchEvent[], revision: number): void;
  /** The watch is over: compacted, cancelled, or the connection is gone. Nothing comes after. */
  ended(error: EtcdError): void;
}
export interface Watch {
  close(): void;
}

export interface EtcdStatus {
  readonly version: string;
  readonly dbBytes: number;
  readonly dbBytesInUse: number;
  /** How large the database may become; undefined: the member does not tell it. */
  readonly quotaBytes?: number;
  readonly leader: string;
  readonly member: string;
}

export interface Etcd {
  txn(
    conditions: readonly Condition[],
    then: readonly Operation[],
    otherwise?: readonly Operation[],
  ): Promise<TxnAnswer>;
  /** `end` undefined: the one key. Linearizable. */
  range(key: string, end: string | undefined, options?: RangeOptions): Promise<RangeAnswer>;
  /** All changes of keys that begin with `prefix`, from this revision on (inclusive). */
  watch(prefix: string, fromRevision: number, listener: WatchListener): Watch;
  /** @param id chosen by the caller, below 2^53. @returns the time to live that was granted. */
  grantLease(id: number, ttlSeconds: number): Promise<number>;
  /** @returns the time to live, 0 when the lease is gone. */
  keepLease(id: number): Promise<number>;
  revokeLease(id: number): Promise<void>;
  compact(revision: number): Promise<void>;
  /** Of each member that answers. */
  status(): Promise<readonly EtcdStatus[]>;
  /** Alarms that stand: 'NOSPACE', 'CORRUPT'. */
  alarms(): Promise<readonly string[]>;
  close(): void;
}

export type EtcdErrorCode =
  /** No answer: lost, late, no leader, no member reachable. A write may have taken place. */
  | 'no_answer'
  /** The quota is reached: etcd takes no puts. */
  | 'no_space'
  /** The revision asked for was compacted. */
  | 'compacted'
  /** A name, a password or a certificate was refused. */
  | 'denied'
  /** Anything else that etcd said, in its words. A write may have taken place. */
  | 'refused';

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: EtcdErrorCode;
  constructor(code: EtcdErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
