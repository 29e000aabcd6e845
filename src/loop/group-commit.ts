// Owns the line between decided and durable. Records gather in a group, and one group is in flight
// at a time. Every answer waits for the flush of the last record that existed at its decision
// (R27): each decision may rest on any earlier record, and when an append fails, the decisions
// after it are void too. It decides nothing and knows no task.

import type { Appended, AppendResult, Log } from '../log/log.ts';
import { Histogram, type HistogramData, SECONDS, SIZES } from '../metrics/histogram.ts';
import type { LogRecord } from '../model/records.ts';
import type { Response } from '../model/response.ts';

/** Whom an answer is for; made by whoever hands a request in, and given back with the answer. */
export type Ticket = number;

export interface Answer {
  readonly ticket: Ticket;
  readonly response: Response;
}

interface Group {
  readonly records: LogRecord[];
  readonly answers: Answer[];
  /** Of payloads and results in them, counted from when it is the group that gathers. */
  bytes: number;
}

export interface Commit {
  readonly records: number;
  readonly lastSeq: number;
  readonly answers: readonly Answer[];
}

/** What becomes of a group: told once for each, in order. */
export interface CommitEvents {
  /** The group's records are on the device: its answers may leave. */
  durable(commit: Commit): void;
  /** The group had no records, and the log could not confirm this writer: send no such answer. */
  unconfirmed(tickets: readonly Ticket[]): void;
  /** Neither the group nor any later decision is known to have happened: send no such answer. */
  lost(result: Exclude<AppendResult, 'durable'>, answers: readonly Answer[]): void;
  /** After each of the above: the next group may begin. */
  ended(): void;
}

interface CommitFigures {
  readonly commit_seconds: HistogramData;
  readonly commit_records: HistogramData;
  /** Of a store that several machines write to: how long it took to learn who leads. */
  readonly confirm_seconds?: HistogramData;
}

const emptyGroup = (): Group => ({ records: [], answers: [], bytes: 0 });

export class GroupCommit {
  private readonly log: Log;
  private readonly events: CommitEvents;
  private gathering = emptyGroup();
  private inFlight: Group | undefined;
  private settling = false;
  /** Of answers that joined the group in flight. */
  private joinedBytes = 0;
  private waiting: (() => void)[] = [];
  /** How long the newest commit took. */
  lastMs = 0;
  private readonly monotonicMs: () => number;
  private readonly seconds = new Histogram(SECONDS);
  private readonly sizes = new Histogram(SIZES);
  private readonly confirms = new Histogram(SECONDS);

  constructor(log: Log, monotonicMs: () => number, events: CommitEvents) {
    this.log = log;
    this.monotonicMs = monotonicMs;
    this.events = events;
  }

  /** How long the commits of groups took, and how many records each had; failed ones count too. */
  figures(): CommitFigures {
    return {
      commit_seconds: this.seconds.data(),
      commit_records: this.sizes.data(),
      ...(this.log.confirm === undefined ? {} : { confirm_seconds: this.confirms.data() }),
    };
  }

  get busy(): boolean {
    return this.inFlight !== undefined;
  }

  /** Records that gather while a group is in flight; whoever feeds us bounds it. */
  get gathered(): number {
    return this.gathering.records.length;
  }

  /** What waits behind the group in flight, in bytes of payloads and results. */
  get gatheredBytes(): number {
    return this.gathering.bytes + this.joinedBytes;
  }

  get idle(): boolean {
    return this.inFlight === undefined && !this.isWaited;
  }

  /** Whether something waits for a commit or a confirmation that nothing has begun yet. */
  get isFlushDue(): boolean {
    return this.inFlight === undefined && this.isWaited;
  }

  /** Answers gather without a record only where they must be confirmed. */
  private get isWaited(): boolean {
    return this.gathering.records.length > 0 || this.gathering.answers.length > 0;
  }

  /** Resolves when nothing is on its way any more, whatever became of it. */
  async settled(): Promise<void> {
    while (!this.idle) {
      if (this.isFlushDue && !this.settling) this.flush();
      else await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  append(record: LogRecord): void {
    this.gathering.records.push(record);
    if (record.type === 'TaskCreated') this.gathering.bytes += record.payload.length;
    else if (record.type === 'TaskCompleted') this.gathering.bytes += record.result?.length ?? 0;
  }

  /**
   * Several machines can write to a store that has `confirm`. There an answer waits for an append
   * or a confirmation that *began* after its decision: the store may have allowed one in flight
   * just before another writer took over. So the answer joins the group that gathers, even without
   * a record.
   * @param needsProof false for figures, which say nothing about a task
   * @returns true when the answer waits for a flush; false when it may leave at once.
   */
  hold(ticket: Ticket, response: Response, needsProof = true): boolean {
    const mustGather = needsProof && this.log.confirm !== undefined;
    if (mustGather || this.gathering.records.length > 0) {
      this.gathering.answers.push({ ticket, response });
      this.gathering.bytes += bytesIn(response);
    } else if (this.inFlight !== undefined) {
      this.inFlight.answers.push({ ticket, response });
      this.joinedBytes += bytesIn(response);
    } else {
      return false;
    }
    return true;
  }

  /** Reads a record whether it is flushed yet or not. */
  read(seq: number): LogRecord | undefined {
    return recordIn(this.gathering, seq) ?? recordIn(this.inFlight, seq) ?? this.log.get(seq);
  }

  /**
   * Sends the gathered group to the log, unless a group is in flight. A log that commits within
   * the call makes the group durable before this returns. What has gathered when a group has ended
   * waits for the next call, so that the caller can take what comes and give other work a turn.
   */
  flush(): void {
    if (this.settling || !this.isFlushDue) return;
    const group = this.gathering;
    this.inFlight = group;
    this.gathering = emptyGroup();
    if (group.records.length === 0) {
      void this.confirm(group);
      return;
    }
    const began = this.monotonicMs();
    const settle = (result: AppendResult): void => {
      this.lastMs = this.monotonicMs() - began;
      this.seconds.observe(this.lastMs / 1_000);
      this.sizes.observe(group.records.length);
      this.settle(group, result);
    };
    const result = this.appended(group.records);
    if (!(result instanceof Promise)) return settle(result);
    result.then(settle, () => settle('failed'));
  }

  private appended(records: readonly LogRecord[]): Appended {
    try {
      return this.log.append(records);
    } catch {
      return 'failed';
    }
  }

  /** Settles a group without records: its answers rest on records that are durable already. */
  private async confirm(group: Group): Promise<void> {
    const began = this.monotonicMs();
    const result = await this.log.confirm?.().catch(() => 'failed' as const);
    this.confirms.observe((this.monotonicMs() - began) / 1_000);
    this.settle(group, result ?? 'failed');
  }

  private settle(group: Group, result: AppendResult): void {
    this.inFlight = undefined;
    this.joinedBytes = 0;
    this.settling = true;
    try {
      if (result === 'durable') this.tellDurable(group);
      else if (result === 'failed' && group.records.length === 0) this.tellUnconfirmed(group);
      else this.tellLost(group, result);
    } finally {
      this.settling = false;
      this.wake();
    }
    this.events.ended();
  }

  private tellDurable({ records, answers }: Group): void {
    const { length } = records;
    const lastSeq = records[length - 1]?.seq ?? this.log.lastNumber;
    this.events.durable({ records: length, lastSeq, answers });
  }

  /** The group that gathers is kept: its own append or confirmation follows. */
  private tellUnconfirmed({ answers }: Group): void {
    this.events.unconfirmed(answers.map(({ ticket }) => ticket));
  }

  private tellLost(group: Group, result: Exclude<AppendResult, 'durable'>): void {
    const after = this.gathering;
    this.gathering = emptyGroup();
    this.events.lost(result, [...group.answers, ...after.answers]);
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const wake of waiting) wake();
  }
}

/** The records of a group are numbered without a gap, so a number gives the index. */
function recordIn(group: Group | undefined, seq: number): LogRecord | undefined {
  const first = group?.records[0];
  return first === undefined || seq < first.seq ? undefined : group?.records[seq - first.seq];
}

function bytesIn(response: Response): number {
  if (response.kind === 'task') return response.payload.length + (response.result?.length ?? 0);
  if (response.kind !== 'leased') return 0;
  let bytes = 0;
  for (const { payload } of response.leases) bytes += payload.length;
  return bytes;
}
