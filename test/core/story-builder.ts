// Owns stories of one task for tests: records with right numbers and links, written by hand-made
// steps at chosen seconds. It decides nothing; a test says what happened.

import type { StartRead, TaskStory } from '../../src/explain/explain-task.ts';
import type { RelativeStory } from '../../src/explain/relatives.ts';
import type { FailureKind, LogRecord, ReportVerb, TaskCreated } from '../../src/model/records.ts';
import type { Relative, Standing } from '../../src/model/response.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import { readWaits } from '../../src/reader/wait-records.ts';

/** 2026-07-30, 12:00:00 UTC. */
export const NOON = 1_785_412_800_000;
type Plain<T> = T extends LogRecord ? Omit<T, 'seq' | 'at' | 'prev'> : never;
type Ending = { leaseId: number; extensions: number; lastExtension: number };

export class Story {
  readonly records: LogRecord[] = [];
  readonly starts: StartRead[] = [];
  readonly relatives: RelativeStory[] = [];
  /** Other tasks' records that the story needs. */
  readonly beside: LogRecord[] = [];
  readonly taskId: number;
  private seq: number;
  private last = 0;
  private lease = { id: 0, expiry: 0, extensions: 0, lastExtension: 0, deadline: 0, attempt: 0 };
  private lastAt = NOON;
  readonly leaseMs = 10_000;

  constructor(created: Partial<TaskCreated> = {}, seq = 42, second = 0) {
    this.seq = seq - 1;
    this.taskId = seq;
    this.add(second, {
      type: 'TaskCreated',
      queue: 'mail',
      payload: new Uint8Array(17),
      executionWindowMs: 60_000,
      retryPolicy: { maxRetries: 3, backoffMs: 5_000, backoffFactor: 1 },
      ...created,
    });
  }

  /** Other tasks' records between this one's. */
  others(count: number): this {
    this.seq += count;
    return this;
  }

  /** The number of the newest record. */
  get seqNow(): number {
    return this.seq;
  }

  /** A record of another task, which knows its own fields. */
  other(second: number, record: Plain<LogRecord>): this {
    this.seq += 1;
    this.lastAt = NOON + second * 1_000;
    this.beside.push({ ...record, seq: this.seq, at: this.lastAt, prev: 0 });
    return this;
  }

  grant(second: number, workerId: string): this {
    const at = NOON + second * 1_000;
    const created = this.records[0] as TaskCreated;
    const attempt = this.lease.attempt + 1;
    const deadline = at + created.executionWindowMs;
    const leaseExpiry = Math.min(at + this.leaseMs, deadline);
    this.add(second, {
      type: 'LeaseGranted',
      taskId: this.taskId,
      workerId,
      attempt,
      leaseExpiry,
      grantedAt: at,
    });
    this.lease = {
      id: this.seq,
      expiry: leaseExpiry,
      extensions: 0,
      lastExtension: 0,
      deadline,
      attempt,
    };
    return this;
  }

  heartbeat(second: number): this {
    const { lease } = this;
    const expiry = Math.min(NOON + second * 1_000 + this.leaseMs, lease.deadline);
    this.put(second, lease.lastExtension || lease.id, {
      type: 'LeaseExtended',
      taskId: this.taskId,
      leaseId: lease.id,
      newLeaseExpiry: expiry,
    });
    lease.expiry = expiry;
    lease.extensions += 1;
    lease.lastExtension = this.seq;
    return this;
  }

  expire(second = (this.lease.expiry - NOON) / 1_000): this {
    return this.add(second, { type: 'LeaseExpired', taskId: this.taskId, ...this.ending() });
  }

  complete(second: number, result?: string): this {
    const bytes = result === undefined ? undefined : new TextEncoder().encode(result);
    const ending = this.ending();
    return this.add(second, {
      type: 'TaskCompleted',
      taskId: this.taskId,
      ...ending,
      result: bytes,
    });
  }

  /** @param retrySecond when it may be retried; undefined: the task is FAILED. */
  fail(
    second: number,
    failureReason: string,
    retrySecond?: number,
    kind: FailureKind = 'error',
  ): this {
    const retryAt = retrySecond === undefined ? undefined : NOON + retrySecond * 1_000;
    const ending = this.ending();
    return this.add(second, {
      type: 'TaskFailed',
      taskId: this.taskId,
      ...ending,
      failureReason,
      kind,
      retryAt,
    });
  }

  late(second: number, leaseId: number, report: ReportVerb = 'complete'): this {
    return this.add(second, { type: 'TaskCancelled', taskId: this.taskId, leaseId, report });
  }

  kill(second: number, reason: string): this {
    const { extensions, lastExtension } = this.ending();
    return this.add(second, {
      type: 'TaskDead',
      taskId: this.taskId,
      extensions,
      lastExtension,
      reason,
    });
  }

  /** @param clockOffsetMs how far coordinator time is ahead of the wall clock. */
  start(second: number, clockOffsetMs = 0): this {
    return this.started(second, clockOffsetMs, { lastAliveAt: this.lastAt });
  }

  /** A start on a copy that ends with the newest record. */
  restore(second: number): this {
    const restored = { after: this.seq, at: this.lastAt };
    this.seq += 1_000_000;
    return this.started(second, 0, { restored });
  }

  private started(second: number, clockOffsetMs: number, rest: Partial<StartRead>): this {
    this.seq += 1;
    const at = NOON + second * 1_000;
    this.starts.push({
      record: {
        type: 'CoordinatorStarted',
        seq: this.seq,
        at,
        prev: 0,
        formatVersion: 1,
        startedAt: at - clockOffsetMs,
      },
      ...rest,
    });
    this.lastAt = at;
    return this;
  }

  /** A task with the same content by redrive, whose own story is told elsewhere. */
  relative(role: Relative['role'], other: Story): this {
    const { state } = other.told(0).standing;
    const restored = other.starts.filter((start) => start.restored !== undefined);
    const restores = restored.map(({ record }) => record.seq);
    this.relatives.push({ role, taskId: other.taskId, state, records: other.records, restores });
    return this;
  }

  /** The lease whose grant is the newest. */
  get leaseId(): number {
    return this.lease.id;
  }

  /** The story as explain takes it, looked at `second` seconds after noon. */
  told(second: number, standing: Partial<Standing> = {}): TaskStory {
    const state = this.state();
    const waiting = state === 'WAITING';
    const held = state === 'LEASED' ? this.lease : undefined;
    const known = new Map(
      [...this.records, ...this.starts.map(({ record }) => record), ...this.beside].map(
        (record) => [record.seq, record],
      ),
    );
    const log = { get: (seq: number): LogRecord | undefined => known.get(seq) };
    return {
      relatives: this.relatives,
      between: readWaits(log.get, queueNames(log), this.records),
      records: this.records,
      starts: this.starts,
      standing: {
        kind: 'standing',
        taskId: this.taskId,
        state,
        queue: (this.records[0] as TaskCreated).queue,
        now: NOON + second * 1_000,
        asOf: this.seq,
        lastRecord: this.last,
        starts: this.starts.map(({ record }) => record.seq),
        lastExtension: held?.lastExtension ?? 0,
        eligibleAt: waiting ? this.eligibleAt() : undefined,
        leaseId: held?.id,
        leaseExpiry: held?.expiry,
        executionDeadline: held?.deadline,
        ahead: waiting ? 0 : undefined,
        aheadIsMore: false,
        poisonAtNextGrant: false,
        poisonThreshold: 10,
        attemptsLeft: this.attemptsLeft(),
        ...standing,
      },
    };
  }

  private attemptsLeft(): number {
    const { maxRetries } = (this.records[0] as TaskCreated).retryPolicy;
    const free = this.records.filter((one) => one.type === 'TaskFailed' && one.kind === 'released');
    return Math.max(0, maxRetries + 1 - this.lease.attempt + free.length);
  }

  private state(): Standing['state'] {
    const end = this.records.findLast(({ type }) => type !== 'TaskCancelled');
    switch (end?.type) {
      case 'LeaseGranted':
      case 'LeaseExtended':
        return 'LEASED';
      case 'TaskCompleted':
        return 'COMPLETED';
      case 'TaskDead':
        return 'DEAD';
      case 'TaskFailed':
        return end.retryAt === undefined ? 'FAILED' : 'WAITING';
      default:
        return 'WAITING';
    }
  }

  private eligibleAt(): number {
    const made = this.records.findLast(({ type }) => type !== 'TaskCancelled') as LogRecord;
    if (made.type === 'TaskFailed') return made.retryAt ?? made.at;
    if (made.type === 'TaskCreated') return made.notBefore ?? made.at;
    return made.at;
  }

  private ending(): Ending {
    const { id, extensions, lastExtension } = this.lease;
    this.lease = { ...this.lease, id: 0, extensions: 0, lastExtension: 0 };
    return { leaseId: id, extensions, lastExtension };
  }

  private add(second: number, record: Plain<LogRecord>): this {
    this.put(second, this.last, record);
    this.last = this.seq;
    return this;
  }

  private put(second: number, prev: number, record: Plain<LogRecord>): void {
    this.seq += 1;
    this.lastAt = NOON + second * 1_000;
    this.records.push({ ...record, seq: this.seq, at: this.lastAt, prev });
  }
}
