// Owns one coordinator process of the simulated world: the real loop on a log in memory whose disk
// obeys the simulation, with everything that it decides and answers written down.

import type { Digest } from '../../src/core/digest-index.ts';
import type { AppendResult, SealedSegment } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { Coordinator } from '../../src/loop/coordinator.ts';
import type { Clock } from '../../src/loop/coordinator-time.ts';
import type { GroupCommit } from '../../src/loop/group-commit.ts';
import type { CoordinatorStarted, LogRecord } from '../../src/model/records.ts';
import type { Response } from '../../src/model/response.ts';
import type { DecodedStore } from './decoded.ts';
import type { ModelKnobs } from './model/decide.ts';

export interface Given {
  readonly ticket: number;
  readonly response: Response;
  /** What the device held when it left. */
  readonly durable: number;
}

interface Stretch extends SealedSegment {
  /** Records in it. */
  left: number;
}

/** Made once: it happens often, and where it is made says nothing. */
const DEVICE_FULL = new Error('the device is full');

/** The log of a node; tells of the records that make a writer the writer. */
export class NodeLog extends MemoryLog {
  onStart: (record: CoordinatorStarted) => void = () => {};
  onStarted: (record: CoordinatorStarted) => void = () => {};
  removalFails: () => boolean = () => false;
  private readonly device: DecodedStore;
  private readonly stretchRecords: number;
  private readonly stretches: Stretch[] = [];

  /** @param manual whether commits wait for `settle` */
  constructor(device: DecodedStore, segmentRecords: number, manual = true) {
    super({ store: device, segmentRecords, manual });
    this.device = device;
    this.stretchRecords = segmentRecords;
  }

  override get(seq: number): LogRecord | undefined {
    const isHere = seq >= 1 && seq <= this.lastNumber;
    return (isHere ? this.device.record(seq) : undefined) ?? super.get(seq);
  }

  /** Those of before, and what was sealed since: a run has hundreds, and asks after each. */
  override sealed(): readonly SealedSegment[] {
    for (;;) {
      const first = (this.stretches.at(-1)?.last ?? 0) + 1;
      if (first + this.stretchRecords > this.lastNumber) return this.stretches.slice();
      const last = first + this.stretchRecords - 1;
      this.stretches.push({ first, last, left: this.recordsIn(first, last) });
    }
  }

  override async start(record: CoordinatorStarted): Promise<AppendResult> {
    this.onStart(record);
    const result = await super.start(record);
    if (result === 'durable') this.onStarted(record);
    return result;
  }

  override async rewrite(
    segment: SealedSegment,
    keep: (record: LogRecord) => boolean,
  ): Promise<number> {
    if (this.removalFails()) throw DEVICE_FULL;
    const removed = await super.rewrite(segment, keep);
    const stretch = this.stretches.find(({ last }) => last === segment.last);
    if (stretch !== undefined) stretch.left -= removed;
    return removed;
  }

  /** Two neighbours that hold less than half a stretch together become one. */
  override merge(): Promise<SealedSegment | undefined> {
    const { stretches } = this;
    for (let n = 0; n + 1 < stretches.length; n += 1) {
      const [one, next] = [stretches[n] as Stretch, stretches[n + 1] as Stretch];
      const left = one.left + next.left;
      if (2 * left >= this.stretchRecords) continue;
      const merged = { first: one.first, last: next.last, left };
      stretches.splice(n, 2, merged);
      return Promise.resolve(merged);
    }
    return Promise.resolve(undefined);
  }

  private recordsIn(first: number, last: number): number {
    const { dropped } = this.store;
    let count = 0;
    for (let seq = dropped.present(first); seq <= last; seq = dropped.present(seq + 1)) count += 1;
    return count;
  }
}

export interface NodeOptions {
  readonly store: DecodedStore;
  readonly knobs: ModelKnobs;
  readonly segmentRecords: number;
  readonly clock: Clock;
  readonly skip: number;
  readonly removalFails: () => boolean;
}

export class Node {
  readonly log: NodeLog;
  readonly loop: Coordinator;
  /** Records decided since somebody last looked. */
  decided: LogRecord[] = [];
  given: Given[] = [];
  /** A bug that showed itself as an exception: the real process would have died of it. */
  broken: Error | undefined;
  fatal: Error | undefined;

  constructor(options: NodeOptions) {
    const { store, knobs, clock, segmentRecords } = options;
    this.log = new NodeLog(store, segmentRecords);
    this.log.removalFails = options.removalFails;
    this.loop = new Coordinator({
      log: this.log,
      knobs,
      clock,
      digestText,
      skip: options.skip,
      events: {
        answer: (ticket, response) => this.given.push({ ticket, response, durable: store.last }),
        durable: () => {},
        mode: () => {},
        fatal: (error) => {
          this.fatal = error;
        },
      },
    });
    this.log.onStarted = (record) => this.decided.push(record);
    this.observe((this.loop as unknown as { commits: GroupCommit }).commits);
  }

  start(): void {
    this.loop.start().catch((error: Error) => {
      this.broken = error;
    });
  }

  private observe(commits: GroupCommit): void {
    const append = commits.append.bind(commits);
    commits.append = (record) => {
      this.decided.push(record);
      append(record);
    };
    // What is thrown here would be nobody's: it runs when a promise of the log resolves.
    const inner = commits as unknown as { settle: (...args: unknown[]) => void };
    const settle = inner.settle.bind(commits);
    inner.settle = (...args) => {
      try {
        settle(...args);
      } catch (error) {
        this.broken = error as Error;
      }
    };
  }
}

/** A cheap digest: two request ids of a run do not meet in 128 bits. */
export function digestText(text: string): Digest {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return [a >>> 0, b >>> 0, (a ^ (b >>> 7)) >>> 0, (b ^ (a << 3)) >>> 0];
}
