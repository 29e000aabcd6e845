// Owns what etcd has agreed on, read from its changes by a second implementation of the layout: the
// records in their order, who wrote head last, and up to where the log was trimmed. It knows no
// line of the product's tail, and it is the witness that everything else is compared with.

import { decodeRecord } from '../../../src/log/codec.ts';
import type { KeyValue } from '../../../src/log/etcd/etcd.ts';
import type { LogRecord } from '../../../src/model/records.ts';
import type { Change } from '../../support/etcd/keyspace.ts';
import type { MemoryEtcd } from '../../support/etcd/memory-etcd.ts';
import { Violation } from '../checkers/violation.ts';

interface Head {
  readonly epoch: number;
  readonly last: number;
}

interface Manifest {
  readonly after: number;
  readonly first: number;
  readonly last: number;
  readonly chunks: number;
  readonly revision: number;
}

export class Agreed {
  last = 0;
  epoch = 0;
  /** Whose start stands, as the network knows its processes; '' before the first. */
  owner = '';
  /** Records whose groups were deleted in etcd. */
  trimmed = 0;
  /** Told of the records of each group, when etcd takes it. */
  onGroup: (records: readonly LogRecord[], sender: string) => void = () => {};
  onTrim: (last: number) => void = () => {};
  violation: Violation | undefined;
  private readonly etcd: MemoryEtcd;
  private readonly prefix: string;
  private readonly bytes = new Map<number, Uint8Array>();
  /** First record → last record of each group that lies in etcd. */
  private readonly groups = new Map<number, number>();
  /** Epochs by the revision with which they began. */
  private readonly epochs: { readonly revision: number; readonly epoch: number }[] = [];

  constructor(etcd: MemoryEtcd, prefix: string) {
    this.etcd = etcd;
    this.prefix = prefix;
    etcd.onChange((change, sender) => {
      try {
        this.see(change, sender);
      } catch (error) {
        this.report(error as Violation);
      }
    });
  }

  report(violation: Violation): void {
    this.violation ??= violation;
  }

  has(seq: number): boolean {
    return this.bytes.has(seq);
  }

  /** @returns in what this differs from the record that etcd has under this number. */
  differs(seq: number, bytes: Uint8Array): string | undefined {
    const agreed = this.bytes.get(seq);
    if (agreed === undefined) return 'is not in etcd';
    return Buffer.compare(agreed, bytes) === 0 ? undefined : 'has other bytes than in etcd';
  }

  record(seq: number): LogRecord | undefined {
    const bytes = this.bytes.get(seq);
    return bytes && decodeRecord(seq, bytes);
  }

  epochAt(revision: number): number {
    return this.epochs.findLast((one) => one.revision <= revision)?.epoch ?? 0;
  }

  /** The newest start up to this record. */
  epochOf(seq: number): number {
    return this.epochs.findLast(({ epoch }) => epoch <= seq)?.epoch ?? 0;
  }

  private see({ events, revision }: Change, sender: string): void {
    let head: Head | undefined;
    let manifest: Manifest | undefined;
    for (const event of events) {
      if (event.type === 'remove') {
        this.removed(event.key.slice(this.prefix.length));
        continue;
      }
      const name = event.kv.key.slice(this.prefix.length);
      if (name === 'head') head = json(event.kv);
      else if (name.startsWith('g/')) manifest = json(event.kv);
    }
    if (manifest !== undefined && head === undefined) throw wrong('a group without a head');
    // The cluster is made: head stands at the end of an empty log.
    if (head !== undefined && sender !== '') this.headPut(head, manifest, sender, revision);
  }

  private headPut(
    head: Head,
    manifest: Manifest | undefined,
    sender: string,
    revision: number,
  ): void {
    if (manifest === undefined) {
      if (head.last !== this.last || head.epoch !== this.epoch) throw wrong('head moves alone');
      if (sender !== this.owner) throw wrong(`${sender} renews the head of ${this.owner}`);
      return;
    }
    const { after, first, last } = manifest;
    if (after !== this.last || first !== after + 1 || last !== head.last) {
      throw wrong(`group ${first}-${last} behind record ${after} is put behind ${this.last}`);
    }
    const records = this.recordsOf(manifest);
    const isStart = records[0]?.type === 'CoordinatorStarted';
    if (!isStart && sender !== this.owner) {
      throw wrong(`${sender} writes record ${first}, and ${this.owner} leads`);
    }
    if (isStart !== (head.epoch !== this.epoch)) throw wrong(`epoch ${head.epoch} at ${first}`);
    if (isStart) {
      this.owner = sender;
      this.epoch = head.epoch;
      this.epochs.push({ revision, epoch: head.epoch });
    }
    this.groups.set(first, last);
    this.onGroup(records, sender);
    this.last = last;
  }

  private recordsOf({ first, last, chunks, revision }: Manifest): LogRecord[] {
    const prefix = `${this.prefix}c/${hex(first)}/${hex(revision)}/`;
    // Behind them there may be pieces of a longer group that its writer did not finish.
    const { kvs } = this.etcd.range(prefix, `${prefix}~`, { limit: chunks });
    if (kvs.length !== chunks) {
      const what = `group ${first} has ${kvs.length} of its ${chunks} pieces`;
      throw new Violation('durability', what);
    }
    const all = Buffer.concat(kvs.map(({ value }) => value));
    const records: LogRecord[] = [];
    let at = 0;
    for (let seq = first; seq <= last; seq += 1) {
      const end = at + 4 + all.readUInt32LE(at);
      this.bytes.set(seq, all.subarray(at + 4, end));
      records.push(decodeRecord(seq, all, at + 4, end));
      at = end;
    }
    if (at !== all.length) throw wrong(`group ${first} is longer than its records`);
    return records;
  }

  /** What is deleted of the log must be behind its end, in whole groups. */
  private removed(name: string): void {
    const [kind, number] = name.split('/');
    if (kind !== 'g' && kind !== 'c') return;
    const last = this.groups.get(Number.parseInt(number ?? '', 16));
    if (last === undefined) return;
    if (kind === 'g') this.groups.delete(Number.parseInt(number ?? '', 16));
    this.trimmed = Math.max(this.trimmed, last);
    this.onTrim(last);
  }
}

const hex = (number: number): string => number.toString(16).padStart(14, '0');

const json = <T>(kv: KeyValue): T => JSON.parse(Buffer.from(kv.value).toString()) as T;

const wrong = (what: string): Violation => new Violation('agreed', what);
