// Owns one attempt at one task in a worker, from the arrival of its lease to the one report about
// it. There may be no report at all. Exactly one party may report: the first that moves the lease
// cell out of `held`.

import type { Machine } from './ask-for-work.ts';
import type { Client } from './client.ts';
import { type AbortCode, LeaseholdError, TaskAborted } from './errors.ts';
import type { HandlerContext, HandlerHost } from './handler.ts';
import { LEASE_TIME_OVER } from './heartbeat-decision.ts';
import type { HeartbeatHost } from './heartbeat-host.ts';
import type { Lease } from './lease.ts';
import type { LeaseCell } from './lease-cell.ts';
import { monotonicMs } from './local-clock.ts';
import { codeOf, isPermanentFailure, reasonOf } from './reason.ts';
import type { ResultLimit } from './result-limit.ts';
import type { ReportOutcome } from './types.ts';
import type { FailureReport, WorkerEvents } from './worker-events.ts';

/** How an execution tells its worker what happened. */
export type Tell = <Name extends keyof WorkerEvents>(
  name: Name,
  ...args: WorkerEvents[Name]
) => void;

export interface ExecutionParts {
  readonly client: Client;
  readonly heartbeats: HeartbeatHost;
  readonly mode: 'thread' | 'handler';
  readonly tell: Tell;
  readonly resultLimit: ResultLimit;
  /** Told when the handler could, or could not, be started here. */
  readonly machine: Machine;
}

/** The reason of a lost lease when the worker has stopped and the handler still runs. */
const HANDLER_DID_NOT_END = 'handler_did_not_end';
/** A smaller result is under every limit that can be set. */
const RESULT_SURE_BYTES = 65_536;

export class Execution {
  readonly lease: Lease;
  readonly #parts: ExecutionParts;
  readonly #cell: LeaseCell;
  readonly #controller = new AbortController();
  /** Resolves when the heartbeat thread's own report is answered, or nobody will report. */
  readonly #settled: Promise<void>;
  #settle: () => void = () => {};
  #isLossTold = false;

  constructor(lease: Lease, parts: ExecutionParts) {
    this.lease = lease;
    this.#parts = parts;
    this.#cell = parts.heartbeats.hold(lease, parts.mode);
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Calls the handler and reports what it returned or threw. Never rejects for either. */
  async run(host: HandlerHost): Promise<void> {
    try {
      if (monotonicMs() >= this.#cell.endsAtMs) return this.#lose(LEASE_TIME_OVER);
      const report = await this.#work(host);
      // `claim` looks at the time once more, because the lease may have ended while the handler
      // blocked this thread. After a claim nobody else can report for this lease.
      if (this.#cell.claim(monotonicMs())) await this.#report(report);
      else if (this.#cell.state === 'lost') this.#lose(LEASE_TIME_OVER);
      else if (this.#cell.state === 'deadline') await this.#settled;
    } finally {
      this.#parts.heartbeats.drop(this.lease.leaseId);
    }
  }

  /** Gives the task back without having worked on it. */
  async release(reason: string): Promise<void> {
    if (this.#cell.claim(monotonicMs())) await this.#report({ reason, kind: 'released' });
    this.#parts.heartbeats.drop(this.lease.leaseId);
  }

  abort(code: AbortCode, reason?: string): void {
    this.#controller.abort(new TaskAborted(code, reason));
  }

  /** The lease is no longer ours, says the coordinator or the clock. */
  loseLease(reason: string): void {
    this.#cell.lose();
    this.#settle();
    this.#lose(reason);
  }

  /** The heartbeat thread has reported in our place. */
  settleDeadline(outcome: ReportOutcome | undefined, error?: string): void {
    const failure: FailureReport = { reason: 'execution window reached', kind: 'error' };
    if (outcome !== undefined) this.#tellOutcome(outcome, failure);
    else this.#parts.tell('error', new LeaseholdError('REPORT_UNANSWERED', error ?? 'no answer'));
    this.#settle();
  }

  /** The worker stops and the handler does not: its lease runs out, and it reports nothing. */
  abandon(): void {
    if (this.#cell.abandon()) this.#lose(HANDLER_DID_NOT_END);
  }

  async #work(host: HandlerHost): Promise<Buffer | undefined | FailureReport> {
    const { lease } = this;
    const beat = (): Promise<boolean> => this.#parts.heartbeats.beat(lease.leaseId);
    const context: HandlerContext = {
      signal: this.#controller.signal,
      fencingToken: lease.fencingToken,
      attempt: lease.attempt,
      previous: lease.previous,
      executionDeadline: lease.executionDeadline,
      stillMine: beat,
      heartbeat: beat,
    };
    try {
      const result = await host.run(lease, context);
      this.#parts.machine.isRight();
      return (await this.#tooLarge(result)) ?? result;
    } catch (error) {
      return this.#failureOf(error);
    }
  }

  /**
   * A result over the limit is refused here. The coordinator cuts off a request far over its
   * limit, so the worker would get no answer that says why.
   */
  async #tooLarge(result: Buffer | undefined): Promise<FailureReport | undefined> {
    if (result === undefined || result.length <= RESULT_SURE_BYTES) return undefined;
    const maxBytes = await this.#parts.resultLimit.maxBytes();
    return result.length > maxBytes ? tooLarge(result.length) : undefined;
  }

  #failureOf(error: unknown): FailureReport {
    const why: unknown = this.#controller.signal.reason;
    const { machine, tell } = this.#parts;
    if (codeOf(error) === 'WRONG_MACHINE') {
      const trouble = new LeaseholdError('WRONG_MACHINE', reasonOf(error), { cause: error });
      machine.isWrong(trouble);
      tell('error', trouble);
      return { reason: reasonOf(error), kind: 'released' };
    }
    machine.isRight();
    if (isPermanentFailure(error)) return { reason: reasonOf(error), kind: 'permanent' };
    if (why instanceof TaskAborted && why.code === 'shutdown') {
      return { reason: 'the worker was stopped', kind: 'released' };
    }
    return { reason: reasonOf(error), kind: 'error' };
  }

  async #report(report: Buffer | undefined | FailureReport): Promise<void> {
    const { client } = this.#parts;
    try {
      if (report === undefined || Buffer.isBuffer(report)) {
        const outcome = await client.complete(this.lease, report);
        const isTooLarge = outcome.outcome === 'REJECTED' && outcome.reason === 'too_large';
        if (!isTooLarge) return this.#tellOutcome(outcome);
        return await this.#report(tooLarge(report?.length ?? 0));
      }
      this.#tellOutcome(await client.fail(this.lease, report), report);
    } catch (error) {
      this.#parts.tell('error', asLeaseholdError(error));
    }
  }

  #tellOutcome(outcome: ReportOutcome, failure?: FailureReport): void {
    const { tell } = this.#parts;
    const task = this.lease;
    switch (outcome.outcome) {
      case 'COMMITTED':
        if (failure === undefined) tell('completed', { task, outcome });
        else if (failure.kind === 'released') tell('released', { task, outcome });
        else tell('failed', { task, outcome, failure });
        break;
      case 'CANCELLED':
        this.abort('lease_lost', outcome.reason);
        tell('lost', { task, reason: outcome.reason ?? 'CANCELLED', outcome });
        break;
      case 'REJECTED':
        tell('rejected', { task, outcome });
        break;
      case 'UNAVAILABLE': {
        const text = `report on ${task.leaseId}: ${outcome.reason}`;
        tell('error', new LeaseholdError('REPORT_UNANSWERED', text));
        break;
      }
    }
  }

  #lose(reason: string): void {
    this.abort('lease_lost', reason);
    if (this.#isLossTold) return;
    this.#isLossTold = true;
    this.#parts.tell('lost', { task: this.lease, reason });
  }
}

const tooLarge = (bytes: number): FailureReport => ({
  reason: `the result of ${bytes} bytes is larger than the coordinator takes`,
  kind: 'permanent',
});

function asLeaseholdError(error: unknown): LeaseholdError {
  if (error instanceof LeaseholdError) return error;
  return new LeaseholdError('PROTOCOL', reasonOf(error), { cause: error });
}
