// Owns one process of a simulated cluster: it follows the log, tries to lead when it is told to,
// and runs the real loop over the real log of several machines. Everything that it decides and
// answers is written down for the judge.

import type { Log } from '../../../src/log/log.ts';
import { Coordinator } from '../../../src/loop/coordinator.ts';
import type { GroupCommit } from '../../../src/loop/group-commit.ts';
import { inheritedMs } from '../../../src/loop/heard-time.ts';
import type { CoordinatorOptions } from '../../../src/loop/loop-options.ts';
import type { CoordinatorStarted, LogRecord } from '../../../src/model/records.ts';
import type { Request } from '../../../src/model/request.ts';
import type { FaultyNetwork } from '../../support/etcd/faulty-network.ts';
import type { ModelKnobs } from '../model/decide.ts';
import type { Expected } from '../model/model.ts';
import { digestText, type Given } from '../node.ts';
import type { Machine } from './machine.ts';
import type { ProductNode } from './product-node.ts';

/** One that is stopping takes no more requests, and ends when everybody has been answered. */
export type Phase = 'following' | 'catching up' | 'leading' | 'stopping' | 'over';

/** What the product's own following gives to the loop that takes over. */
export type Led = Pick<CoordinatorOptions, 'prepared' | 'inherited'>;

/** What a process tells the world while it happens. */
export interface MemberEvents {
  /** It appends a CoordinatorStarted; whether it becomes the leader is not known yet. */
  starts(member: Member, record: CoordinatorStarted): void;
  /** The log told it that this record is durable. */
  toldDurable(member: Member, lastSeq: number): void;
  durable(): number;
}

/** A read that came while the state was being made equal to the log. */
export interface Deferred {
  readonly ticket: number;
  readonly request: Request;
  /** Coordinator time. */
  readonly since: number;
}

export class Member {
  readonly name: string;
  readonly machine: Machine;
  readonly network: FaultyNetwork;
  phase: Phase = 'following';
  log: Log | undefined;
  loop: Coordinator | undefined;
  decided: LogRecord[] = [];
  given: Given[] = [];
  broken: Error | undefined;
  fatal: Error | undefined;
  /** An append or a confirmation failed since somebody last looked. */
  isExcused = false;
  /** An append failed since somebody last looked. */
  hasLost = false;
  /** What its log was asked to append, until that is durable or the log was opened again. */
  underWay: readonly LogRecord[] | undefined;
  /** Its log has told it that its newest start is durable. */
  knowsItLeads = false;
  /** Once another one leads: the answers that were decided before, and may still leave. */
  leftOver: Map<number, Expected> | undefined;
  /** Figures, which need no proof that this process leads. */
  readonly unproven = new Set<number>();
  deferred: readonly Deferred[] = [];
  /** Coordinator time at its start, as the rulings say it, and the machine's clock then. */
  base = 0;
  baseMonotonicMs = 0;
  /** Nothing was heard of the leader's time: its wall clock was asked. */
  usesWallClock = false;
  /** The product's own following and election, if it has them. */
  product: ProductNode | undefined;
  /** Its first start has shown from which time it goes on. */
  hasStarted = false;
  /** The epoch as whose leader the product's node was told to beat. */
  toldEpoch = 0;
  private readonly events: MemberEvents;

  constructor(name: string, machine: Machine, network: FaultyNetwork, events: MemberEvents) {
    this.name = name;
    this.machine = machine;
    this.network = network;
    this.events = events;
  }

  /** Coordinator time, not before the newest record. */
  now(lastAt: number): number {
    return Math.max(this.rawNow(), lastAt);
  }

  rawNow(): number {
    return this.base + Math.floor(this.machine.monotonic() - this.baseMonotonicMs);
  }

  get runsLoop(): boolean {
    return this.phase === 'leading' || this.phase === 'stopping';
  }

  /** Begins to lead, or to try: its log holds everything that etcd had when it was opened. */
  lead(log: Log, knobs: ModelKnobs, led: Led = {}): void {
    const { machine, events } = this;
    this.log = log;
    this.phase = 'leading';
    this.observeLog(log);
    this.observeReopen(log);
    this.loop = new Coordinator({
      log,
      knobs,
      clock: machine,
      digestText,
      inherited: (epoch) => inheritedMs(machine.heard, machine.local(), epoch),
      ...led,
      events: {
        answer: (ticket, response) =>
          this.given.push({ ticket, response, durable: events.durable() }),
        durable: () => {},
        mode: () => {},
        fatal: (error) => {
          this.fatal = error;
        },
      },
    });
    this.observe((this.loop as unknown as { commits: GroupCommit }).commits);
    this.loop.start().catch((error: Error) => {
      this.broken = error;
    });
  }

  /** The process is gone; what it has sent may still arrive. */
  kill(): void {
    this.phase = 'over';
    this.network.close();
    if (this.machine.member === this) this.machine.member = undefined;
  }

  private observeLog(log: Log): void {
    const start = log.start.bind(log);
    log.start = async (record) => {
      this.knowsItLeads = false;
      this.events.starts(this, record);
      this.underWay = [record];
      const result = await start(record);
      if (result === 'durable') {
        this.knowsItLeads = true;
        this.events.toldDurable(this, record.seq);
      }
      return result;
    };
    const append = log.append.bind(log);
    log.append = async (records) => {
      this.underWay = records;
      const result = await append(records);
      if (result === 'durable') this.events.toldDurable(this, records.at(-1)?.seq ?? 0);
      return result;
    };
  }

  private observeReopen(log: Log): void {
    const reopen = log.reopen.bind(log);
    log.reopen = async () => {
      await reopen();
      this.underWay = undefined;
    };
  }

  private observe(commits: GroupCommit): void {
    const append = commits.append.bind(commits);
    commits.append = (record) => {
      this.decided.push(record);
      append(record);
    };
    // What is thrown here would be nobody's: it runs when a promise of the log resolves.
    const inner = commits as unknown as {
      settle: (group: { readonly records: readonly LogRecord[] }, result: string) => void;
    };
    const settle = inner.settle.bind(commits);
    inner.settle = (group, result) => {
      try {
        if (result !== 'durable') {
          this.isExcused = true;
          this.hasLost ||= group.records.length > 0 && result === 'failed';
        }
        settle(group, result);
      } catch (error) {
        this.broken = error as Error;
      }
    };
  }
}
