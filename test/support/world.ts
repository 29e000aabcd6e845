// Owns a coordinator on a log in memory with a clock that moves only when told: what the core's
// tests play their stories on.

import { createHash } from 'node:crypto';
import { digestOf } from '../../src/core/digest-index.ts';
import { brokenInvariants } from '../../src/core/invariants.ts';
import type { Archive } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { Coordinator } from '../../src/loop/coordinator.ts';
import type {
  CoordinatorEvents,
  CoordinatorOptions,
  Surroundings,
} from '../../src/loop/loop-options.ts';
import { replay } from '../../src/loop/replay.ts';
import type { Mode } from '../../src/loop/turn.ts';
import type { CoreKnobs } from '../../src/model/knobs.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { FailRequest, LeaseRequest, Request, SubmitRequest } from '../../src/model/request.ts';
import type { Lease, Leased, Response, Submitted } from '../../src/model/response.ts';

export const KNOBS: CoreKnobs = {
  leaseDurationMs: 10_000,
  heartbeatIntervalMs: 3_000,
  executionWindowMs: 60_000,
  maxRetries: 2,
  backoffMs: 0,
  backoffFactor: 1,
  poisonThreshold: 10,
  retentionMs: 0,
  retentionFailedMs: 0,
  answerMaxBytes: 16 * 1024 * 1024,
};

export const digestText = (text: string) => digestOf(createHash('sha256').update(text).digest());
const START = 1_700_000_000_000;

type StartOptions = Pick<CoordinatorOptions, 'acceptClock' | 'skip' | 'prepared' | 'inherited'>;

export class World {
  log: MemoryLog;
  loop: Coordinator;
  /** Ms since the world began. */
  time = 0;
  wallOffset = 0;
  readonly answers = new Map<number, Response>();
  readonly modes: Mode[] = [];
  /** What was told to be on the device: the newest record, each time. */
  readonly durable: number[] = [];
  fatal: Error | undefined;
  onStopped = (error: Error): void => {
    throw error;
  };
  /** Records that were removed from the log for good. */
  removed = 0;
  /** Is told what the world itself is told, after it. */
  readonly also: Partial<CoordinatorEvents> = {};
  surroundings: Surroundings = () => ({});
  /** Why the store wants no new tasks. */
  noRoom: string | undefined;
  private readonly archive: Archive | undefined;
  private tickets = 0;
  private readonly knobs: CoreKnobs;

  constructor(knobs: Partial<CoreKnobs> = {}, log = new MemoryLog(), archive?: Archive) {
    this.knobs = { ...KNOBS, ...knobs };
    this.log = log;
    this.archive = archive;
    this.loop = this.boot();
  }

  static async started(
    knobs: Partial<CoreKnobs> = {},
    log = new MemoryLog(),
    archive?: Archive,
  ): Promise<World> {
    const world = new World(knobs, log, archive);
    await world.loop.start();
    return world;
  }

  /** A new process on what the log holds; what was not durable is gone. */
  async restart(options: StartOptions = {}): Promise<void> {
    await this.log.close();
    const { store, segmentRecords } = this.log;
    this.log = new MemoryLog({ store, segmentRecords });
    this.loop = this.boot(options);
    await this.loop.start();
  }

  /** Hands a request in without flushing; `before` learns its ticket before it can be answered. */
  take(request: Request, before?: (ticket: number) => void): number {
    this.tickets += 1;
    before?.(this.tickets);
    this.loop.take(this.tickets, request);
    return this.tickets;
  }

  /** Hands a request in, flushes, and gives its answer (undefined: it is parked). */
  async ask(request: Request): Promise<Response | undefined> {
    const ticket = this.take(request);
    await this.settle();
    return this.answers.get(ticket);
  }

  async settle(): Promise<void> {
    this.loop.flush();
    await this.loop.settled();
  }

  async tick(): Promise<void> {
    this.loop.tick();
    await this.settle();
  }

  async submit(more: Partial<SubmitRequest> = {}): Promise<number> {
    const answer = await this.ask({
      op: 'submit',
      queue: 'default',
      payload: new TextEncoder().encode('p'),
      ...more,
    });
    return (answer as Submitted).taskId;
  }

  async lease(more: Partial<LeaseRequest> = {}): Promise<Lease> {
    const answer = (await this.ask(leaseRequest(more))) as Leased;
    const lease = answer.leases[0];
    if (lease === undefined) throw new Error(`no lease: ${answer.empty?.reason}`);
    return lease;
  }

  complete(lease: { taskId: number; leaseId: number }): Promise<Response | undefined> {
    return this.ask({ op: 'complete', taskId: lease.taskId, leaseId: lease.leaseId });
  }

  fail(
    lease: { taskId: number; leaseId: number },
    more: Partial<FailRequest> = {},
  ): Promise<Response | undefined> {
    const { taskId, leaseId } = lease;
    return this.ask({ op: 'fail', taskId, leaseId, reason: 'no luck', kind: 'error', ...more });
  }

  heartbeat(lease: { taskId: number; leaseId: number }): Promise<Response | undefined> {
    return this.ask({ op: 'heartbeat', taskId: lease.taskId, leaseId: lease.leaseId });
  }

  records(): LogRecord[] {
    return [...this.log.read(1)];
  }

  /** The types of the records after the last start, in order. */
  types(): string[] {
    return this.records()
      .filter((record) => record.type !== 'CoordinatorStarted')
      .map((record) => record.type);
  }

  /** Broken invariants of the live state and of the replayed one. */
  broken(): string[] {
    const again = replay(this.log, { digestText }).state;
    return [...brokenInvariants(this.loop.view.state), ...brokenInvariants(again)];
  }

  private boot(options: StartOptions = {}): Coordinator {
    return new Coordinator({
      log: this.log,
      archive: this.archive,
      knobs: this.knobs,
      digestText,
      clock: { wall: () => START + this.time + this.wallOffset, monotonic: () => this.time },
      surroundings: () => this.surroundings(),
      noRoom: () => this.noRoom,
      ...options,
      events: {
        answer: (ticket, response) => {
          if (this.answers.has(ticket)) throw new Error(`ticket ${ticket} was answered twice`);
          this.answers.set(ticket, response);
          this.also.answer?.(ticket, response);
        },
        durable: (seq, records) => {
          this.durable.push(seq);
          this.also.durable?.(seq, records);
        },
        mode: (mode) => {
          this.modes.push(mode);
          this.also.mode?.(mode);
        },
        removed: (_segment, records) => {
          this.removed += records;
        },
        stopped: (error) => this.onStopped(error),
        fatal: (error) => {
          this.fatal = error;
        },
      },
    });
  }
}

export const leaseRequest = (more: Partial<LeaseRequest> = {}): LeaseRequest => ({
  op: 'lease',
  workerId: 'w1',
  queues: ['default'],
  max: 1,
  waitMs: 0,
  base64: false,
  ...more,
});
