// What is read of other tasks' records to tell what lay in a wait: grants of the same queue and of
// others, the lease that the same worker gave up, and where nothing may be claimed.

import { expect } from 'chai';
import type { LogRecord } from '../../src/model/records.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import { readWaits } from '../../src/reader/wait-records.ts';

type Plain<T> = T extends LogRecord ? Omit<T, 'seq' | 'prev'> : never;

/** A log of records that are numbered in their order; the task's own are those of its id. */
class Written {
  readonly records: LogRecord[] = [];
  readonly gone = new Set<number>();
  looked = 0;

  add(record: Plain<LogRecord>): number {
    const seq = this.records.length + 1;
    this.records.push({ ...record, seq, prev: 0 });
    return seq;
  }

  submit(at: number, queue: string): number {
    return this.add({
      type: 'TaskCreated',
      at,
      queue,
      payload: new Uint8Array(),
      executionWindowMs: 60_000,
      retryPolicy: { maxRetries: 3, backoffMs: 0, backoffFactor: 1 },
    });
  }

  grant(at: number, taskId: number, workerId: string): number {
    const lease = { workerId, attempt: 1, leaseExpiry: at + 5_000, grantedAt: at };
    return this.add({ type: 'LeaseGranted', at, taskId, ...lease });
  }

  complete(at: number, taskId: number, leaseId: number): number {
    const ended = { taskId, leaseId, extensions: 0, lastExtension: 0 };
    return this.add({ type: 'TaskCompleted', at, ...ended });
  }

  /** The wait before the newest grant of a task. */
  waitOf(taskId: number) {
    const get = (seq: number): LogRecord | undefined => {
      this.looked += 1;
      return this.gone.has(seq) ? undefined : this.records[seq - 1];
    };
    const own = this.records.filter(
      (record) => record.seq === taskId || ('taskId' in record && record.taskId === taskId),
    );
    const lease = own.findLast(({ type }) => type === 'LeaseGranted')?.seq ?? 0;
    return readWaits(get, queueNames({ get }), own).get(lease);
  }
}

describe('what lay in a wait', () => {
  it('is grants of the queue, grants elsewhere, and the lease that its worker ended', () => {
    const log = new Written();
    const [mail, other, sms] = [log.submit(0, 'mail'), log.submit(0, 'mail'), log.submit(0, 'sms')];
    const first = log.grant(1_000, other, 'w1');
    log.grant(2_000, sms, 'w2');
    const ended = log.complete(3_000, other, first);
    log.grant(3_001, mail, 'w1');
    expect(log.waitOf(mail)).deep.equal({
      grants: 1,
      firstGrant: first,
      lastGrant: first,
      deaths: 0,
      grantsElsewhere: 1,
      freed: { leaseId: first, taskId: other, at: 3_000, record: ended },
    });
  });

  it('begins when the task became eligible, not when it was submitted', () => {
    const log = new Written();
    const task = log.submit(0, 'mail');
    const created = log.records[0] as LogRecord;
    log.records[0] = { ...created, notBefore: 5_000 } as LogRecord;
    const early = log.submit(0, 'mail');
    log.grant(4_000, early, 'w1');
    log.grant(6_500, task, 'w2');
    expect(log.waitOf(task)).include({ grants: 0, grantsElsewhere: 0 });
  });

  it('is deaths too, which may have been the doing of a lease request', () => {
    const log = new Written();
    const [task, other] = [log.submit(0, 'mail'), log.submit(0, 'mail')];
    const ended = { extensions: 0, lastExtension: 0, reason: 'poison: 1 in a row' };
    log.add({ type: 'TaskDead', at: 500, taskId: other, ...ended });
    log.grant(2_000, task, 'w1');
    expect(log.waitOf(task)).include({ grants: 0, deaths: 1 });
  });

  it('is not told when it was short', () => {
    const log = new Written();
    const task = log.submit(0, 'mail');
    log.grant(999, task, 'w1');
    expect(log.waitOf(task)).equal(undefined);
    expect(log.looked).equal(0);
  });

  it('is not told when a record in it was removed, which may have been a grant', () => {
    const log = new Written();
    const [task, other] = [log.submit(0, 'mail'), log.submit(0, 'mail')];
    const gone = log.grant(1_000, other, 'w1');
    log.grant(9_000, task, 'w1');
    expect(log.waitOf(task)).include({ grants: 1 });
    log.gone.add(gone);
    expect(log.waitOf(task)).equal(undefined);
  });

  it('is not told when there are too many records in it, and costs a bounded number', () => {
    const log = new Written();
    const task = log.submit(0, 'mail');
    for (let n = 0; n < 5_000; n += 1) log.submit(n, 'sms');
    log.grant(9_000, task, 'w1');
    expect(log.waitOf(task)).equal(undefined);
    expect(log.looked).below(1_000);
  });
});
