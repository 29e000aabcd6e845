// What the columns of queues, workers and tasks say.

import { expect } from 'chai';
import {
  type Fields,
  queueColumns,
  shortDuration,
  workerColumns,
} from '../../src/cli/overview-table.ts';
import { type Column } from '../../src/cli/table.ts';
import { taskColumns } from '../../src/cli/task-columns.ts';

const NOW = 1_700_000_000_000;
const cells = (columns: readonly Column<Fields>[], row: Fields): Fields =>
  Object.fromEntries(columns.map(({ head, value }) => [head, value(row)]));

describe('the columns of the overview', () => {
  it('of a queue that nobody asks for', () => {
    const row = { queue: 'q', waiting: 3, delayed: 1, leased: 0, eligible: 2 };
    const figures = { oldest_waiting_ms: 185_000, submitted_per_second: 0.04 };
    const more = { finished_per_second: 12.4, parked_requests: 0 };
    expect(cells(queueColumns(NOW), { ...row, ...figures, ...more })).to.deep.equal({
      queue: 'q',
      waiting: '3',
      delayed: '1',
      leased: '0',
      oldest: '3m05s',
      'in/s': '<0.1',
      'out/s': '12',
      asked: 'never',
      by: '',
    });
  });

  it('of a queue that is asked for, and of one for which a request waits', () => {
    const row = { queue: 'q', eligible: 0, last_asked_at: NOW - 2_500, last_asked_by: 'w1' };
    const asked = cells(queueColumns(NOW), { ...row, parked_requests: 0 });
    expect(asked).to.include({ asked: '2s ago', by: 'w1', oldest: '-' });
    const waits = cells(queueColumns(NOW), { ...row, parked_requests: 1 });
    expect(waits).to.include({ asked: 'now', by: 'w1' });
  });

  it('of a worker that is gone, and of one that was not heard of since the start', () => {
    const row = { worker_id: 'w', active_leases: 2, leases: ['L3', 'L7'] };
    const gone = { ...row, last_seen_at: NOW - 65_000, capacity: 4 };
    expect(cells(workerColumns(NOW), { ...gone, next_lease_expiry: NOW + 9_000 })).to.deep.equal({
      worker: 'w',
      leases: '2',
      capacity: '4',
      'last request': '1m05s ago',
      'lease ends': 'in 9s',
      holds: 'L3 L7',
    });
    const unseen = cells(workerColumns(NOW), row);
    expect(unseen).to.include({ 'last request': 'not since start', capacity: '-' });
  });

  it('of tasks: when a delayed one can be leased, the lease, the failure', () => {
    const row = { task_id: 'T1', state: 'WAITING', queue: 'q', attempt: 0, created_at: NOW };
    const plain = { ...row, eligible_at: NOW };
    const delayed = { ...row, eligible_at: NOW + 3_600_000 };
    expect(taskColumns([plain]).map(({ head }) => head)).not.to.include('eligible');
    const columns = taskColumns([plain, delayed]);
    expect(cells(columns, plain)).to.include({ eligible: '' });
    expect(cells(columns, delayed)).to.include({ eligible: '23:13:20' });
    const tomorrow = { ...row, eligible_at: NOW + 86_400_000 };
    expect(cells(columns, tomorrow)).to.include({ eligible: '11-15 22:13:20' });
    // A delay may be a hundred years long, and a task of years ago may have failed just now.
    const later = { ...row, eligible_at: NOW + 366 * 86_400_000 };
    expect(cells(columns, later)).to.include({ eligible: '2024-11-14 22:13:20' });
    const leased = { ...row, state: 'LEASED', lease: { lease_id: 'L2', worker_id: 'w' } };
    expect(cells(columns, leased)).to.include({ detail: 'L2 w', eligible: '' });
    const failed = { ...row, state: 'FAILED', last_failure_reason: 'no\n route ' };
    expect(cells(columns, failed)).to.include({ detail: 'failed: no route' });
    const released = { ...row, last_failure_reason: 'stopped', last_failure_kind: 'released' };
    expect(cells(columns, released)).to.include({ detail: 'given back: stopped' });
    // Why it is DEAD or COMPLETED is another matter.
    const completed = cells(columns, { ...released, state: 'COMPLETED' });
    expect(completed).to.include({ detail: 'before: given back: stopped' });
    const dead = { ...released, state: 'DEAD', dead_reason: 'no longer\n wanted ' };
    expect(cells(columns, dead)).to.include({ detail: 'no longer wanted' });
  });

  it('of durations', () => {
    const texts = [0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 90_000_000];
    expect(texts.map(shortDuration)).to.deep.equal([
      ...['0.0s', '0.9s', '1s', '59s', '1m00s', '59m59s', '1h00m', '23h59m', '1d1h'],
    ]);
    expect(shortDuration(-5)).to.equal('0.0s');
  });
});
