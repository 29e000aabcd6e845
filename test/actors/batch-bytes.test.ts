// The bytes that the answers of one batch may come to: who is asked, who waits, who is refused.

import { expect } from 'chai';
import {
  BatchBytes,
  mostBytesOfLeases,
  mostBytesOfTask,
  mostBytesOfTasks,
} from '../../actors/ingress/batch-bytes.ts';
import { ID_MAX_BYTES, METADATA_MAX_BYTES, REASON_MAX_BYTES } from '../../src/model/limits.ts';
import type { Lease, TaskSummary } from '../../src/model/response.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';

/** What grows most in JSON, as long as it may be. */
const zeros = (count: number): string => '\0'.repeat(count);
const letter = (code: number): string => String.fromCharCode(code);
const KEYS = Array.from({ length: 1_024 }, (_, n) => letter(n >> 5) + letter(n & 31));
const METADATA = {
  ...Object.fromEntries(KEYS.map((key) => [key, ''])),
  [zeros(METADATA_MAX_BYTES - 2 * KEYS.length)]: '',
};
const ZEROS = new Uint8Array(1_000);
const MAX = Number.MAX_SAFE_INTEGER;
const QUEUE = 'q'.repeat(128);
const LEASED = { kind: 'leased', waitedMs: MAX, base64: false } as const;
const LEASE: Lease = {
  taskId: MAX,
  leaseId: MAX,
  queue: QUEUE,
  attempt: MAX,
  maxRetries: MAX,
  previous: {
    attempt: MAX,
    leaseId: MAX,
    workerId: zeros(ID_MAX_BYTES),
    ended: 'released',
    at: MAX,
    reason: zeros(REASON_MAX_BYTES),
  },
  metadata: METADATA,
  payload: ZEROS,
  leaseExpiry: MAX,
  leaseMs: MAX,
  executionDeadline: MAX,
  heartbeatIntervalMs: MAX,
  createdAt: MAX,
};
const SUMMARY: TaskSummary = {
  taskId: MAX,
  queue: QUEUE,
  state: 'COMPLETED',
  attempt: MAX,
  maxRetries: MAX,
  backoffMs: MAX,
  executionWindowMs: MAX,
  requestId: zeros(ID_MAX_BYTES),
  originTaskId: MAX,
  redrivenAs: MAX,
  createdAt: MAX,
  eligibleAt: MAX,
  lease: {
    leaseId: MAX,
    workerId: zeros(ID_MAX_BYTES),
    grantedAt: MAX,
    leaseExpiry: MAX,
    executionDeadline: MAX,
  },
  endedAt: MAX,
  expirations: MAX,
  failures: MAX,
  retryAt: MAX,
  lastFailureReason: zeros(REASON_MAX_BYTES),
  lastFailureKind: 'permanent',
  deadReason: zeros(REASON_MAX_BYTES),
  metadata: METADATA,
  records: MAX,
};

/** Steps by number, each with what its answer may come to at most. */
function entered(room: BatchBytes, ...most: number[]) {
  const seen: string[] = [];
  for (const [i, mostBytes] of most.entries()) {
    const refuse = (): void => void seen.push(`refuse ${i}`);
    room.enter({ mostBytes, ask: () => seen.push(`ask ${i}`), refuse });
  }
  return {
    seen,
    answered: (i: number, bytes: number) => room.answered({ mostBytes: most[i] as number }, bytes),
  };
}

describe('the room for the answers of a batch', () => {
  it('lets all be asked at once that have room whatever they come to', () => {
    const { seen } = entered(new BatchBytes(100), 40, 0, 60, 0);
    expect(seen).to.deep.equal(['ask 0', 'ask 1', 'ask 2', 'ask 3']);
  });

  it('lets one wait for answers that may leave room, and those behind it in their order', () => {
    const { seen, answered } = entered(new BatchBytes(100), 60, 60, 0, 30, 55);
    expect(seen).to.deep.equal(['ask 0']);
    answered(0, 5);
    expect(seen).to.deep.equal(['ask 0', 'ask 1', 'ask 2', 'ask 3']);
    answered(2, 1);
    expect(seen).to.have.length(4);
    answered(1, 5);
    expect(seen).to.deep.equal(['ask 0', 'ask 1', 'ask 2', 'ask 3', 'ask 4']);
  });

  it('refuses what has no room beside the answers that are there, and nothing else', () => {
    const { seen, answered } = entered(new BatchBytes(100), 60, 45, 0, 10);
    answered(0, 70);
    expect(seen).to.deep.equal(['ask 0', 'refuse 1', 'ask 2', 'ask 3']);
  });

  it('asks one alone that may come to more than there is room for', () => {
    const { seen, answered } = entered(new BatchBytes(100), 0, 500, 500, 500);
    expect(seen).to.deep.equal(['ask 0', 'ask 1']);
    answered(0, 0);
    answered(1, 40);
    expect(seen).to.deep.equal(['ask 0', 'ask 1', 'ask 2']);
    answered(2, 400);
    expect(seen).to.deep.equal(['ask 0', 'ask 1', 'ask 2', 'refuse 3']);
  });

  it('asks one after the other where each is answered at once, however many they are', () => {
    const room = new BatchBytes(100);
    let asked = 0;
    for (let n = 0; n < 100_000; n += 1) {
      const step = { mostBytes: 60, ask: () => answer(), refuse: () => {} };
      const answer = (): void => {
        asked += 1;
        room.answered(step, 0);
      };
      room.enter(step);
    }
    expect(asked).to.equal(100_000);
  });

  it('counts the payloads of a lease answer as they may stand in JSON', () => {
    const limits = { payloadMaxBytes: 1_000, batchMaxBytes: 5_000 };
    const [one, many] = [mostBytesOfLeases(1, limits), mostBytesOfLeases(1_000, limits)];
    expect(many - 36_000).to.equal(1_000 * (one - 6_000));
  });

  it('is told of no answer less than it can come to', () => {
    const limits = { payloadMaxBytes: 1_000, batchMaxBytes: 5_000 };
    expect(answerOf({ ...LEASED, leases: [LEASE] }).bodyBytes).most(mostBytesOfLeases(1, limits));
    const tasks = Array.from({ length: 10 }, () => SUMMARY);
    expect(answerOf({ kind: 'tasks', tasks, next: 11 }).bodyBytes).most(mostBytesOfTasks(10));
    const shown = { kind: 'task', task: SUMMARY, payload: ZEROS, result: ZEROS } as const;
    expect(answerOf({ ...shown, base64: false }).bodyBytes).most(mostBytesOfTask(limits));
  });
});
