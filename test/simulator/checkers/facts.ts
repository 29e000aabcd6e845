// Owns what must be true of the durable records alone, whoever decided them: times never go back,
// and a lease that is over stays over and has at most one outcome.

import type { LogRecord } from '../../../src/model/records.ts';
import { Violation } from './violation.ts';

interface LeaseFacts {
  expiry: number;
  isOver: boolean;
  outcome: number;
}

export class FactsChecker {
  private lastSeq = 0;
  private lastAt = 0;
  private readonly leases = new Map<number, LeaseFacts>();
  private readonly ofTasks = new Map<number, number>();

  see(record: LogRecord): void {
    const maySkip = record.type === 'CoordinatorStarted' && record.seq > this.lastSeq;
    if (!maySkip && record.seq !== this.lastSeq + 1)
      this.wrong(record, `follows record ${this.lastSeq}`);
    if (record.at < this.lastAt) this.wrong(record, `is earlier than ${this.lastAt}`);
    this.lastSeq = record.seq;
    this.lastAt = record.at;
    switch (record.type) {
      case 'LeaseGranted': {
        const held = this.leases.get(this.ofTasks.get(record.taskId) ?? 0);
        if (held !== undefined && !held.isOver) this.wrong(record, 'the task is leased already');
        this.ofTasks.set(record.taskId, record.seq);
        this.leases.set(record.seq, { expiry: record.leaseExpiry, isOver: false, outcome: 0 });
        return;
      }
      case 'LeaseExtended': {
        const lease = this.running(record, record.leaseId);
        if (record.newLeaseExpiry <= lease.expiry) this.wrong(record, 'does not extend');
        lease.expiry = record.newLeaseExpiry;
        return;
      }
      case 'LeaseExpired': {
        const lease = this.known(record, record.leaseId);
        if (lease.isOver) this.wrong(record, 'the lease was over before');
        if (record.at < lease.expiry) this.wrong(record, `the lease lasts until ${lease.expiry}`);
        lease.isOver = true;
        return;
      }
      case 'TaskCompleted':
      case 'TaskFailed':
        this.running(record, record.leaseId).isOver = true;
        return this.outcome(record, record.leaseId);
      case 'TaskCancelled':
        if (!this.known(record, record.leaseId).isOver) this.wrong(record, 'the lease is running');
        return this.outcome(record, record.leaseId);
      case 'TaskDead': {
        const held = this.leases.get(this.ofTasks.get(record.taskId) ?? 0);
        if (held !== undefined) held.isOver = true;
        return;
      }
      default:
    }
  }

  private running(record: LogRecord, leaseId: number): LeaseFacts {
    const lease = this.known(record, leaseId);
    if (lease.isOver) this.wrong(record, 'the lease is over: it came back');
    if (record.at >= lease.expiry) this.wrong(record, `the lease ended at ${lease.expiry}`);
    return lease;
  }

  private outcome(record: LogRecord, leaseId: number): void {
    const lease = this.known(record, leaseId);
    if (lease.outcome !== 0) this.wrong(record, `record ${lease.outcome} was its outcome`);
    lease.outcome = record.seq;
  }

  private known(record: LogRecord, leaseId: number): LeaseFacts {
    return this.leases.get(leaseId) ?? this.wrong(record, `lease ${leaseId} was never granted`);
  }

  private wrong(record: LogRecord, why: string): never {
    throw new Violation('facts', `record ${record.seq} (${record.type}): ${why}`);
  }
}
