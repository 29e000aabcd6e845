// Owns the simulated workers: they ask for leases, keep them up with the product's own heartbeat
// rule, report, and do all that goes wrong with workers: die, stall, report what is not theirs any
// more, or in the very millisecond in which their lease ends.

import {
  type HeldLease,
  heartbeat,
  holdLease,
  wakeAtMs,
} from '../../src/client/heartbeat-decision.ts';
import type { LeaseGranted } from '../../src/model/records.ts';
import type { LeaseRequest, ReportRequest } from '../../src/model/request.ts';
import type { Lease } from '../../src/model/response.ts';
import { Violation } from './checkers/violation.ts';
import type { Network } from './network.ts';
import { Random } from './random.ts';
import type { Stage } from './stage.ts';

const STALE_KEPT = 20;

interface Execution {
  readonly lease: Lease;
  /** Of the world, when the lease was asked for. */
  readonly timeJumps: number;
  held: HeldLease;
  isOver: boolean;
}

export class Workers {
  private readonly world: Stage;
  private readonly network: Network;
  private readonly dice: Random;
  /** Leases that somebody holds no more, but may still talk about. */
  private readonly stale: Lease[] = [];
  /** Task → who holds it, or believes so. */
  private readonly believers = new Map<number, Execution>();
  private readonly queues: readonly string[];

  constructor(world: Stage, network: Network) {
    this.world = world;
    this.network = network;
    this.dice = new Random(world.settings.seed, 'workers');
    this.queues = Array.from({ length: world.settings.queues }, (_, n) => `q${n}`);
    world.onGrant = (record) => this.granted(record);
    for (let n = 0; n < world.settings.workers; n += 1) this.ask(`w${n}`);
  }

  private ask(workerId: string): void {
    const { dice, world, queues } = this;
    const first = dice.below(queues.length);
    const request: LeaseRequest = {
      op: 'lease',
      workerId,
      queues: dice.chance(0.5) ? queues : [queues[first] as string],
      max: dice.pick([1, 1, 1, 3, 10]),
      waitMs: dice.pick([0, 100, 1_000]),
      capacity: dice.pick([undefined, undefined, 1, 3]),
      base64: false,
    };
    const { timeJumps } = world;
    this.network.call(request, ({ response, sentAt }) => {
      const leases = response?.kind === 'leased' ? response.leases : [];
      this.workOn(leases, sentAt, timeJumps);
      const pause = leases.length > 0 ? dice.pick([0, 0, 1, 5]) : dice.pick([5, 50, 200]);
      world.events.after(pause, () => this.ask(workerId));
    });
  }

  /** What was leased together is done together, or each for itself. */
  private workOn(leases: readonly Lease[], sentAt: number, timeJumps: number): void {
    const { dice, world } = this;
    if (dice.chance(world.troubles.workerCrash)) return;
    const together = world.settings.batch > 1 && dice.chance(0.7);
    const executions = leases.map((lease) => this.work(lease, sentAt, timeJumps));
    const parts = together ? [executions] : executions.map((one) => [one]);
    const { leaseDurationMs } = world.settings.knobs;
    for (const some of parts) {
      const longer = dice.chance(world.troubles.workerStall) ? 3 : 0;
      const part = dice.chance(0.15) ? leaseDurationMs * dice.pick([0.1, 0.5, 1, 4, 8]) : 0;
      const runMs = dice.pick([0, 1, 2, 5]) + part;
      const delay = Math.floor(runMs + longer * leaseDurationMs);
      world.events.after(delay, () => this.report(some));
      if (longer === 0) for (const execution of some) this.beat(execution);
    }
  }

  private work(lease: Lease, sentAt: number, timeJumps: number): Execution {
    this.stale[this.dice.below(STALE_KEPT)] = lease;
    this.atTheEdge(lease);
    const held = holdLease({
      nowMs: this.world.events.now,
      endsAtMs: sentAt + lease.leaseMs,
      windowEndsAtMs: sentAt + lease.executionDeadline - (lease.leaseExpiry - lease.leaseMs),
      intervalMs: lease.heartbeatIntervalMs,
      mode: 'thread',
    });
    const execution = { lease, held, timeJumps, isOver: false };
    this.believers.set(lease.taskId, execution);
    return execution;
  }

  /** Nobody else may still believe that the task is theirs, by their own clock. */
  private granted(record: LeaseGranted): void {
    const before = this.believers.get(record.taskId);
    if (before === undefined) return;
    this.believers.delete(record.taskId);
    const { held, isOver, timeJumps, lease } = before;
    const { world } = this;
    // A report in its name may have ended the lease; time alone must not have.
    const ended = world.model.book.find(record.taskId)?.leases.at(-2);
    if (ended?.id !== lease.leaseId || ended.end !== 'expired') return;
    if (isOver || held.phase !== 'held' || timeJumps !== world.timeJumps) return;
    const drift = world.driftMs(lease.leaseMs);
    if (world.events.now < held.endsAtMs - drift) {
      const what = `lease ${lease.leaseId} ends at ${held.endsAtMs} for its worker`;
      throw new Violation('belief', `${what}, lease ${record.seq} begins at ${world.events.now}`);
    }
  }

  private beat(execution: Execution): void {
    const wake = wakeAtMs(execution.held);
    if (wake === Number.POSITIVE_INFINITY || execution.isOver) return;
    const { events } = this.world;
    events.after(Math.max(0, Math.ceil(wake - events.now)), () => {
      if (execution.isOver) return;
      const step = heartbeat(execution.held, { kind: 'tick', nowMs: events.now, slackMs: 0 });
      execution.held = step.lease;
      if (step.output?.kind === 'send') this.sendHeartbeat(execution);
      else if (step.output?.kind === 'deadline') this.report([execution], 'window');
      else if (step.output?.kind !== 'lost') this.beat(execution);
    });
  }

  private sendHeartbeat(execution: Execution): void {
    const { taskId, leaseId } = execution.lease;
    this.network.call({ op: 'heartbeat', taskId, leaseId }, ({ response, sentAt }) => {
      const nowMs = this.world.events.now;
      const input =
        response?.kind === 'heartbeat'
          ? ({ kind: 'ok', nowMs, sentAtMs: sentAt, leaseMs: response.leaseMs } as const)
          : response?.kind === 'refusal'
            ? ({ kind: 'rejected', reason: response.reason } as const)
            : ({ kind: 'unanswered', nowMs } as const);
      execution.held = heartbeat(execution.held, input).lease;
      // A worker that is cut off right after a slow answer believes in its lease for longest.
      if (nowMs > sentAt && this.dice.chance(0.2)) return;
      this.beat(execution);
    });
  }

  private report(executions: readonly Execution[], reason = 'no luck'): void {
    const reports: ReportRequest[] = [];
    for (const execution of executions) {
      if (execution.isOver) continue;
      execution.isOver = true;
      reports.push(this.someReport(execution.lease, reason));
    }
    if (reports.length > 0) this.network.callAll(reports);
  }

  private someReport({ taskId, leaseId }: Lease, reason: string): ReportRequest {
    const { dice } = this;
    if (reason === 'no luck' && dice.chance(0.7)) {
      const result = dice.chance(0.2) ? new Uint8Array([dice.below(256)]) : undefined;
      return { op: 'complete', taskId, leaseId, result };
    }
    const kind = dice.pick(['error', 'error', 'error', 'permanent', 'released'] as const);
    return { op: 'fail', taskId, leaseId, reason, kind };
  }

  /** Something about a lease in the very millisecond before, at and after its end. */
  private atTheEdge(lease: Lease): void {
    const { dice, world, network } = this;
    if (dice.chance(world.troubles.edge)) {
      const delay = lease.leaseExpiry - world.now() + dice.pick([-1, 0, 0, 1]);
      world.events.after(Math.max(0, delay), () => {
        const { taskId, leaseId } = lease;
        if (dice.chance(0.4)) network.tell({ op: 'heartbeat', taskId, leaseId });
        else network.tell(this.someReport(lease, 'no luck'));
      });
    }
    if (!dice.chance(world.troubles.stale)) return;
    world.events.after(dice.pick([1, 100, 1_000, 5_000]), () => {
      const another = this.stale[dice.below(STALE_KEPT)] ?? lease;
      const old = dice.chance(0.5) ? lease : another;
      const { taskId, leaseId } = old;
      if (dice.chance(0.3)) network.tell({ op: 'heartbeat', taskId, leaseId });
      else network.tell(this.someReport(old, 'no luck'));
    });
  }
}
