// How records read on a line: each type once, from the JSON that the interface shows.

import { expect } from 'chai';
import { painter } from '../../src/cli/colors.ts';
import { recordLine } from '../../src/model/record-line.ts';
import { RECORD_TYPES } from '../../src/model/records.ts';

const AT = Date.UTC(2026, 6, 30, 10, 2, 11, 204);
const task = { at: AT, prev: 1, task_id: 'T42' };
const lease = { ...task, lease_id: 'L57' };

const LINES: Record<string, readonly [record: Record<string, unknown>, line: string][]> = {
  TaskCreated: [
    [{ ...task, seq: 42, queue: 'mail' }, '42 10:02:11.204 TaskCreated T42 → WAITING queue mail'],
    [
      { ...task, seq: 42, queue: 'q', request_id: 'r', not_before: AT, origin_task_id: 'T7' },
      '42 10:02:11.204 TaskCreated T42 → WAITING queue q, request r,' +
        ' not before 2026-07-30 10:02:11, redriven from T7',
    ],
  ],
  LeaseGranted: [
    [
      { ...lease, seq: 57, worker_id: 'w1', attempt: 1, lease_expiry: AT + 4_796 },
      '57 10:02:11.204 LeaseGranted T42 WAITING → LEASED L57 w1 attempt 1, until 10:02:16.000',
    ],
    [
      { ...lease, seq: 57, worker_id: 'w\u001b[2J', attempt: 2, lease_expiry: AT },
      '57 10:02:11.204 LeaseGranted T42 WAITING → LEASED L57 w·[2J attempt 2, until 10:02:11.204',
    ],
    [
      { ...lease, seq: 57, worker_id: 'w\n58\u202e', attempt: 2, lease_expiry: AT },
      '57 10:02:11.204 LeaseGranted T42 WAITING → LEASED L57 w·58· attempt 2, until 10:02:11.204',
    ],
  ],
  LeaseExtended: [
    [
      { ...lease, seq: 58, new_lease_expiry: AT + 86_400_000 },
      '58 10:02:11.204 LeaseExtended T42 LEASED L57 until 2026-07-31 10:02:11.204',
    ],
    [
      { ...lease, seq: 58, new_lease_expiry: AT },
      '58 10:02:11.204 LeaseExtended T42 LEASED L57 until 10:02:11.204',
    ],
  ],
  LeaseExpired: [
    [
      { ...lease, seq: 59, extensions: 3, last_extension: 58 },
      '59 10:02:11.204 LeaseExpired T42 LEASED → WAITING L57, extended 3 times',
    ],
  ],
  TaskCompleted: [
    [{ ...lease, seq: 60 }, '60 10:02:11.204 TaskCompleted T42 LEASED → COMPLETED L57'],
  ],
  TaskFailed: [
    [
      { ...lease, seq: 61, kind: 'error', failure_reason: 'no luck', retry_at: AT },
      '61 10:02:11.204 TaskFailed T42 LEASED → WAITING L57 error: no luck, again at 10:02:11.204',
    ],
    [
      { ...lease, seq: 61, kind: 'error', failure_reason: 'x', retry_at: AT + 48 * 3_600_000 },
      '61 10:02:11.204 TaskFailed T42 LEASED → WAITING L57 error: x,' +
        ' again at 2026-08-01 10:02:11.204',
    ],
    [
      { ...lease, seq: 61, kind: 'permanent', failure_reason: 'bad' },
      '61 10:02:11.204 TaskFailed T42 LEASED → FAILED L57 permanent: bad',
    ],
    [
      { ...lease, seq: 61, kind: 'error', failure_reason: 'a\n62 10:02:12.000 TaskDead' },
      '61 10:02:11.204 TaskFailed T42 LEASED → FAILED L57 error: a·62 10:02:12.000 TaskDead',
    ],
  ],
  TaskCancelled: [
    [
      { ...lease, seq: 62, report: 'complete' },
      '62 10:02:11.204 TaskCancelled T42 unchanged L57 complete under a lease that was over',
    ],
  ],
  TaskDead: [
    [{ ...task, seq: 63, reason: 'poison' }, '63 10:02:11.204 TaskDead T42 → DEAD poison'],
  ],
  CoordinatorStarted: [[{ at: AT, seq: 1, epoch: 1 }, '1 10:02:11.204 CoordinatorStarted epoch 1']],
  HistoryForgotten: [
    [
      { at: AT, seq: 64, completed_through: 9, failed_through: 0 },
      '64 10:02:11.204 HistoryForgotten COMPLETED through 9, others through 0',
    ],
  ],
};

describe('a record on a line', () => {
  for (const type of RECORD_TYPES) {
    it(`reads well for ${type}`, () => {
      const cases = LINES[type] ?? [];
      expect(cases).to.not.have.length(0);
      for (const [record, line] of cases) expect(recordLine({ type, ...record })).to.equal(line);
    });
  }
});

describe('colours', () => {
  const io = (isTTY: boolean, env: NodeJS.ProcessEnv) =>
    painter({ ...process, env, stdout: { isTTY } as NodeJS.WriteStream });
  const record = { ...lease, seq: 60, type: 'TaskCompleted' };
  const line = '60 10:02:11.204 TaskCompleted T42 LEASED → COMPLETED L57';

  it('are on a terminal only, and not with NO_COLOR', () => {
    expect(recordLine(record, io(false, {}))).to.equal(line);
    expect(recordLine(record, io(true, { NO_COLOR: '1' }))).to.equal(line);
    const painted = recordLine(record, io(true, {}));
    expect(painted).to.include('\u001b[32mTaskCompleted\u001b[39m');
    expect(painted.replaceAll(/\p{Cc}\[\d+m/gu, '')).to.equal(line);
  });
});
