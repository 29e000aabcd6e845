// The log's end by itself: records a second and device bytes a record by group size, one group in
// flight, each answered after its flush. Beside it in the same rounds: LMDB without our log around
// it, and a bare file with one fdatasync a group.

import { closeSync, fdatasync, mkdirSync, openSync, rmSync, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { open } from 'lmdb';
import { encodeRecord } from '../src/log/codec.ts';
import { type LmdbLog, openLmdbLog } from '../src/log/lmdb-log.ts';
import type { LogRecord, TaskCreated } from '../src/model/records.ts';
import { type Bench, interleaved, type Row, ratios, rowOf } from './harness.ts';
import { scratch } from './machine.ts';
import { KNOBS, PAYLOAD_BYTES } from './records.ts';
import { writtenBytes } from './server.ts';

const GROUPS = [1, 16, 256, 4_096] as const;
/** The server's default, and one so small that the cost of going on in a new segment shows. */
const SEGMENT_BYTES = 256 * 2 ** 20;
const SMALL_SEGMENT_BYTES = 4 * 2 ** 20;

interface Taken {
  readonly perSecond: number;
  readonly bytesEach: number;
}

/** Appends one group; resolves when it is on the device. */
type Append = (first: number, count: number) => Promise<void>;

const recordAt = (seq: number): TaskCreated => ({
  type: 'TaskCreated',
  seq,
  at: 1_700_000_000_000 + seq,
  prev: 0,
  queue: 'default',
  payload: PAYLOAD_BYTES,
  executionWindowMs: KNOBS.executionWindowMs,
  retryPolicy: { maxRetries: 3, backoffMs: 30_000, backoffFactor: 1 },
});

async function measure(append: Append, next: number, group: number, seconds: number) {
  const bytes = writtenBytes('self');
  const began = performance.now();
  let seq = next;
  for (let tookMs = 0; tookMs < seconds * 1_000; tookMs = performance.now() - began) {
    await append(seq, group);
    seq += group;
  }
  const perSecond = ((seq - next) / (performance.now() - began)) * 1_000;
  return { seq, taken: { perSecond, bytesEach: (writtenBytes('self') - bytes) / (seq - next) } };
}

class Target {
  private next: number;
  private readonly append: Append;

  constructor(append: Append, next = 1) {
    this.append = append;
    this.next = next;
  }

  async take(group: number, seconds: number): Promise<Taken> {
    const { seq, taken } = await measure(this.append, this.next, group, seconds);
    this.next = seq;
    return taken;
  }
}

async function ours(directory: string, segmentBytes: number): Promise<[LmdbLog, Target]> {
  const log = await openLmdbLog({ dataDir: directory, segmentBytes });
  const started = { type: 'CoordinatorStarted', seq: 1, at: 1, prev: 0, formatVersion: 1 } as const;
  await log.start({ ...started, startedAt: 1 });
  const append: Append = async (first, count) => {
    const records: LogRecord[] = [];
    for (let i = 0; i < count; i += 1) records.push(recordAt(first + i));
    const result = await log.append(records);
    if (result !== 'durable') throw new Error(`append: ${result}`);
  };
  return [log, new Target(append, 2)];
}

function bareLmdb(path: string): Target {
  const encoder = { encode: (bytes: Uint8Array) => bytes, decode: (bytes: Buffer) => bytes };
  const db = open<Uint8Array, number>({ path, noSubdir: false, overlappingSync: false, encoder });
  return new Target(async (first, count) => {
    const puts: Promise<boolean>[] = [];
    for (let i = 0; i < count; i += 1) {
      puts.push(db.put(first + i, encodeRecord(recordAt(first + i))));
    }
    const { flushed } = db;
    await Promise.all(puts);
    await flushed;
  });
}

function bareFile(path: string): [number, Target] {
  const file = openSync(path, 'a');
  const [writing, flushing] = [promisify(write), promisify(fdatasync)];
  const append: Append = async (first, count) => {
    const parts: Uint8Array[] = [];
    for (let i = 0; i < count; i += 1) parts.push(encodeRecord(recordAt(first + i)));
    await writing(file, Buffer.concat(parts));
    await flushing(file);
  };
  return [file, new Target(append)];
}

function rowsOf(group: number, log: Taken[], lmdb: Taken[], file: Taken[]): Row[] {
  const speed = (taken: Taken[]): number[] => taken.map(({ perSecond }) => perSecond);
  const bytes = (taken: Taken[]): number[] => taken.map(({ bytesEach }) => bytesEach);
  const byteRatio = ratios(bytes(log), bytes(lmdb));
  const median = rowOf('', '', byteRatio).median;
  return [
    rowOf(`groups of ${group}: our log`, 'records/s', speed(log)),
    rowOf(`groups of ${group}: bare LMDB`, 'records/s', speed(lmdb)),
    rowOf(`groups of ${group}: bare file`, 'records/s', speed(file)),
    rowOf(`groups of ${group}: our log ÷ bare LMDB`, 'ratio', ratios(speed(log), speed(lmdb))),
    rowOf(`groups of ${group}: our log`, 'bytes/record', bytes(log)),
    rowOf(`groups of ${group}: our bytes ÷ bare LMDB's`, 'ratio', byteRatio, {
      goal: { text: '≤ 1.3', kept: median <= 1.3 },
    }),
  ];
}

export const bench: Bench = {
  about: 'appended and flushed, one group at a time: our log, bare LMDB, a bare file',
  async run({ rounds, seconds, say }) {
    const directory = scratch('append');
    const small = join(directory, 'small');
    mkdirSync(small);
    const [log, target] = await ours(join(directory, 'log'), SEGMENT_BYTES);
    const [smallLog, smallTarget] = await ours(small, SMALL_SEGMENT_BYTES);
    const lmdb = bareLmdb(join(directory, 'lmdb'));
    const [file, fileTarget] = bareFile(join(directory, 'file'));
    const cases: Record<string, () => Promise<Taken>> = {};
    for (const group of GROUPS) {
      cases[`log ${group}`] = () => target.take(group, seconds / 2);
      cases[`lmdb ${group}`] = () => lmdb.take(group, seconds / 2);
      cases[`file ${group}`] = () => fileTarget.take(group, seconds / 2);
    }
    cases['small'] = () => smallTarget.take(256, seconds / 2);
    const taken = await interleaved<string, Taken>({ rounds, say }, cases);
    await log.close();
    await smallLog.close();
    closeSync(file);
    rmSync(directory, { recursive: true });
    const of = (name: string): Taken[] => taken[name] ?? [];
    const small256 = of('small').map(({ perSecond }) => perSecond);
    return [
      ...GROUPS.flatMap((group) =>
        rowsOf(group, of(`log ${group}`), of(`lmdb ${group}`), of(`file ${group}`)),
      ),
      rowOf('groups of 256, segments of 4 MiB: our log', 'records/s', small256),
    ];
  },
};
