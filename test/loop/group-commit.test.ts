// What gathers behind a flush, in records and bytes, and who is told what when.

import { expect } from 'chai';
import type { AppendResult } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { type Commit, GroupCommit } from '../../src/loop/group-commit.ts';
import type { LogRecord } from '../../src/model/records.ts';
import type { Lease, Response } from '../../src/model/response.ts';

const created = (seq: number, bytes: number): LogRecord => ({
  type: 'TaskCreated',
  seq,
  at: 1,
  prev: 0,
  queue: 'q',
  payload: new Uint8Array(bytes),
  executionWindowMs: 1,
  retryPolicy: { maxRetries: 0, backoffMs: 0, backoffFactor: 1 },
});
const completed = (seq: number, bytes: number): LogRecord => ({
  type: 'TaskCompleted',
  seq,
  at: 1,
  prev: 1,
  taskId: 1,
  leaseId: 1,
  extensions: 0,
  lastExtension: 0,
  result: bytes === 0 ? undefined : new Uint8Array(bytes),
});
const nothing: Response = { kind: 'overview', body: {} };
const leased = (...bytes: number[]): Response => ({
  kind: 'leased',
  leases: bytes.map((size) => ({ payload: new Uint8Array(size) }) as unknown as Lease),
  waitedMs: 0,
  empty: undefined,
  base64: false,
});
const shown = (payload: number, result: number): Response =>
  ({
    kind: 'task',
    payload: new Uint8Array(payload),
    result: result === 0 ? undefined : new Uint8Array(result),
  }) as unknown as Response;

function setUp(isShared = false) {
  const log = new MemoryLog({ manual: true, isShared });
  const told: (readonly number[] | string)[] = [];
  /** For each group that ended: whether another one had gathered. */
  const ended: boolean[] = [];
  const tickets = (commit: Commit) => commit.answers.map(({ ticket }) => ticket);
  const commits: GroupCommit = new GroupCommit(log, () => 0, {
    durable: (commit) => void told.push(tickets(commit)),
    unconfirmed: (lost) => void told.push('unconfirmed', lost),
    lost: (result, lost) =>
      void told.push(
        result,
        lost.map(({ ticket }) => ticket),
      ),
    ended: () => void ended.push(commits.isFlushDue),
  });
  const settle = async (outcome: 'durable' | 'failed' | 'lost answer') => {
    log.settle(outcome);
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
    return told.splice(0);
  };
  return { log, commits, settle, told, ended };
}

describe('group commit', () => {
  it('counts the bytes behind the group in flight, those of answers too', async () => {
    const { commits, settle } = setUp();
    commits.append(created(1, 100));
    commits.append(completed(2, 10));
    expect(commits.gatheredBytes).to.equal(110);
    commits.flush();
    expect(commits.gatheredBytes).to.equal(0);
    // These join the group in flight: it holds them until it is flushed.
    commits.hold(1, leased(5, 6));
    commits.hold(2, shown(30, 4));
    commits.hold(3, nothing);
    expect(commits.gatheredBytes).to.equal(45);
    commits.append(completed(3, 0));
    commits.append(created(4, 7));
    commits.hold(4, leased(1));
    commits.hold(5, shown(2, 0));
    expect(commits.gatheredBytes).to.equal(55);
    expect(await settle('durable')).to.deep.equal([[1, 2, 3]]);
    expect(commits.gatheredBytes, 'what joined the group is gone').to.equal(10);
    commits.flush();
    expect(commits.busy).to.equal(true);
    expect(commits.gathered).to.equal(0);
    expect(commits.gatheredBytes).to.equal(0);
    expect(await settle('durable')).to.deep.equal([[4, 5]]);
    expect(commits.idle).to.equal(true);
    expect(commits.gatheredBytes).to.equal(0);
  });

  it('holds an answer for the last record that there is, if there is one', async () => {
    const { commits, settle } = setUp();
    expect(commits.hold(1, nothing)).to.equal(false);
    commits.append(created(1, 1));
    expect(commits.hold(2, nothing)).to.equal(true);
    commits.flush();
    expect(commits.hold(3, nothing)).to.equal(true);
    commits.append(created(2, 1));
    expect(commits.hold(4, nothing)).to.equal(true);
    expect(await settle('durable')).to.deep.equal([[2, 3]]);
    commits.flush();
    expect(await settle('durable')).to.deep.equal([[4]]);
    expect(commits.hold(5, nothing)).to.equal(false);
  });

  it('leaves what gathered behind a group to the next call, so that more may join it', async () => {
    const { commits, log, settle } = setUp();
    commits.append(created(1, 1));
    commits.flush();
    commits.append(created(2, 1));
    commits.hold(2, nothing);
    expect(await settle('durable')).to.deep.equal([[]]);
    expect([commits.busy, commits.isFlushDue, log.pending]).to.deep.equal([false, true, false]);
    commits.append(created(3, 1));
    commits.hold(3, nothing);
    commits.flush();
    expect(await settle('durable')).to.deep.equal([[2, 3]]);
    expect(commits.idle).to.equal(true);
  });

  it('says when the next group may begin, whatever became of the one before', async () => {
    const { commits, settle, ended } = setUp(true);
    commits.append(created(1, 1));
    commits.flush();
    commits.hold(1, nothing);
    expect(await settle('durable')).to.deep.equal([[]]);
    commits.flush();
    commits.hold(2, nothing);
    expect(await settle('failed')).to.deep.equal(['unconfirmed', [1]]);
    commits.append(created(2, 1));
    commits.flush();
    expect(await settle('failed')).to.deep.equal(['failed', [2]]);
    expect(ended).to.deep.equal([true, true, false]);
  });

  it('a lost group takes with it what gathered behind it, and wakes who waits', async () => {
    for (const outcome of ['failed', 'lost answer'] as const) {
      const { commits, settle } = setUp();
      commits.append(created(1, 1));
      commits.hold(1, nothing);
      commits.flush();
      commits.hold(2, leased(9));
      commits.append(created(2, 9));
      commits.hold(3, nothing);
      const settled = commits.settled();
      expect(await settle(outcome)).to.deep.equal(['failed', [1, 2, 3]]);
      await settled;
      expect(commits.gatheredBytes).to.equal(0);
      expect(commits.gathered).to.equal(0);
    }
  });

  it('takes an error of the log for a failure', async () => {
    const { log, commits, told } = setUp();
    log.append = () => Promise.reject(new Error('a bug'));
    commits.append(created(1, 1));
    commits.hold(1, nothing);
    commits.flush();
    await commits.settled();
    expect(told).to.deep.equal(['failed', [1]]);
  });

  describe('on a log that another writer may take over', () => {
    it('holds every answer, and asks once for all that gathered', async () => {
      const { log, commits, settle } = setUp(true);
      expect(commits.hold(1, nothing)).to.equal(true);
      expect(commits.hold(2, leased(9))).to.equal(true);
      expect([commits.idle, commits.isFlushDue, log.pending]).to.deep.equal([false, true, false]);
      commits.flush();
      expect([commits.busy, log.pending]).to.deep.equal([true, true]);
      expect(await settle('durable')).to.deep.equal([[1, 2]]);
      expect([commits.idle, log.pending, log.lastNumber]).to.deep.equal([true, false, 0]);
    });

    it('counts neither an append nor a confirmation that began before the decision', async () => {
      const { log, commits, settle } = setUp(true);
      commits.append(created(1, 1));
      commits.flush();
      commits.hold(1, nothing);
      expect(await settle('durable'), 'the append was not for it').to.deep.equal([[]]);
      commits.flush();
      expect(log.pending, 'a confirmation has begun').to.equal(true);
      commits.hold(2, nothing);
      expect(await settle('durable')).to.deep.equal([[1]]);
      commits.flush();
      expect(await settle('durable')).to.deep.equal([[2]]);
      expect(commits.idle).to.equal(true);
    });

    it('lets an append that begins later speak for the answers before it', async () => {
      const { commits, settle, log } = setUp(true);
      commits.hold(1, nothing);
      commits.append(created(1, 1));
      commits.hold(2, nothing);
      commits.flush();
      expect(await settle('durable')).to.deep.equal([[1, 2]]);
      expect([commits.idle, log.lastNumber]).to.deep.equal([true, 1]);
    });

    it('refuses what could not be confirmed, and nothing more', async () => {
      const { log, commits, settle } = setUp(true);
      commits.hold(1, nothing);
      commits.flush();
      commits.append(created(1, 1));
      commits.hold(2, nothing);
      expect(await settle('failed')).to.deep.equal(['unconfirmed', [1]]);
      commits.flush();
      expect(await settle('durable')).to.deep.equal([[2]]);
      expect(log.lastNumber).to.equal(1);
    });

    it('is lost when another writer has the log', async () => {
      const { log, commits, settle } = setUp(true);
      expect(log.store.commit(1, 1, [new Uint8Array(1)])).to.equal(true);
      commits.hold(1, nothing);
      commits.flush();
      commits.hold(2, nothing);
      expect(await settle('durable')).to.deep.equal(['fenced', [1, 2]]);
    });

    it('asks for no proof of figures', async () => {
      const { commits, settle } = setUp(true);
      expect(commits.hold(1, nothing, false)).to.equal(false);
      commits.hold(2, nothing);
      commits.flush();
      expect(commits.hold(3, nothing, false), 'they wait for what is under way').to.equal(true);
      expect(await settle('durable')).to.deep.equal([[2, 3]]);
    });

    it('is settled when the last answer has left', async () => {
      const { commits, settle } = setUp(true);
      commits.hold(1, nothing);
      const order: string[] = [];
      const waiting = (async () => {
        await commits.settled();
        order.push('settled');
      })();
      commits.flush();
      await Promise.resolve();
      expect(order).to.deep.equal([]);
      expect(await settle('durable')).to.deep.equal([[1]]);
      await waiting;
      expect(order).to.deep.equal(['settled']);
    });
  });

  describe('on a log that commits within the call', () => {
    /** `during`: what happens while the answers of a group leave. */
    function atOnce(results: AppendResult[], during: (commits: GroupCommit) => void = () => {}) {
      const told: (readonly number[] | string)[] = [];
      const log = new MemoryLog();
      log.append = () => results.shift() ?? 'durable';
      const commits: GroupCommit = new GroupCommit(log, () => 0, {
        durable: (commit) => {
          told.push(commit.answers.map(({ ticket }) => ticket));
          during(commits);
        },
        unconfirmed: (refused) => void told.push('unconfirmed', refused),
        lost: (result, lost) =>
          void told.push(
            result,
            lost.map(({ ticket }) => ticket),
          ),
        ended: () => {},
      });
      return { commits, told };
    }

    it('is done with a group when flush returns', () => {
      const { commits, told } = atOnce(['durable', 'failed']);
      commits.append(created(1, 1));
      commits.hold(1, nothing);
      commits.flush();
      expect(told).to.deep.equal([[1]]);
      expect(commits.idle).to.equal(true);
      expect(commits.hold(2, nothing)).to.equal(false);
      commits.append(created(2, 1));
      commits.hold(3, nothing);
      commits.flush();
      expect(told.slice(1)).to.deep.equal(['failed', [3]]);
      expect(commits.idle).to.equal(true);
    });

    it('leaves what gathers meanwhile to the next call, never to itself', async () => {
      let seq = 1;
      const more = (commits: GroupCommit): void => {
        if (seq === 2_000) return;
        seq += 1;
        commits.append(created(seq, 1));
        commits.hold(seq, nothing);
        commits.flush();
      };
      const { commits, told } = atOnce([], more);
      commits.append(created(1, 1));
      commits.flush();
      expect(told).to.deep.equal([[]]);
      expect(commits.gathered).to.equal(1);
      commits.flush();
      expect(told).to.deep.equal([[], [2]]);
      // Whoever waits for the end of it all gets there, however often more has gathered.
      await commits.settled();
      expect(told).to.have.length(2_000);
      expect(commits.idle).to.equal(true);
    });

    it('takes an error of the log for a failure', () => {
      const { commits, told } = atOnce([]);
      (commits as unknown as { log: MemoryLog }).log.append = () => {
        throw new Error('a bug');
      };
      commits.append(created(1, 1));
      commits.hold(1, nothing);
      commits.flush();
      expect(told).to.deep.equal(['failed', [1]]);
    });
  });

  it('reads a record wherever it is', async () => {
    const { commits, settle } = setUp();
    for (const seq of [1, 2]) commits.append(created(seq, seq));
    commits.flush();
    for (const seq of [3, 4]) commits.append(created(seq, seq));
    const sizes = () =>
      [0, 1, 2, 3, 4, 5].map((seq) => {
        const record = commits.read(seq);
        return record?.type === 'TaskCreated' ? record.payload.length : undefined;
      });
    expect(sizes()).to.deep.equal([undefined, 1, 2, 3, 4, undefined]);
    await settle('durable');
    expect(sizes()).to.deep.equal([undefined, 1, 2, 3, 4, undefined]);
    commits.flush();
    await settle('durable');
    expect(sizes()).to.deep.equal([undefined, 1, 2, 3, 4, undefined]);
  });
});
