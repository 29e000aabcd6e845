// The loop end to end on a log in memory: time to the millisecond, authority, failing disks.

import { expect } from 'chai';
import { stateDigest } from '../../src/core/digest.ts';
import { brokenInvariants } from '../../src/core/invariants.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import { replay } from '../../src/loop/replay.ts';
import type { Refusal } from '../../src/model/refusal.ts';
import type { Leased, Response, TaskShown } from '../../src/model/response.ts';
import { digestText, leaseRequest, World } from '../support/world.ts';

const refusal = (answer: Response | undefined): Refusal => {
  if (answer?.kind !== 'refusal') throw new Error(`no refusal: ${JSON.stringify(answer)}`);
  return answer;
};
const shown = async (world: World, taskId: number) =>
  ((await world.ask({ op: 'task', taskId, waitMs: 0, base64: false })) as TaskShown).task;

describe('coordinator: expiry to the millisecond', () => {
  for (const late of [-1, 0, 1]) {
    it(`a report and a heartbeat ${late} ms from lease_expiry`, async () => {
      const world = await World.started();
      await world.submit();
      const lease = await world.lease();
      world.time += 10_000 + late;
      const beat = await world.heartbeat(lease);
      const done = await world.complete(lease);
      if (late < 0) {
        expect(beat).to.include({ kind: 'heartbeat', leaseMs: 10_000 });
        expect(done).to.include({ kind: 'committed', taskState: 'COMPLETED' });
      } else {
        expect(refusal(beat)).to.include({ outcome: 'REJECTED', reason: 'lease_expired' });
        expect(refusal(done)).to.include({ outcome: 'CANCELLED', reason: 'lease_expired' });
      }
      expect(world.broken()).to.deep.equal([]);
    });

    it(`a read and a grant ${late} ms from lease_expiry`, async () => {
      const world = await World.started();
      const taskId = await world.submit();
      await world.lease();
      world.time += 10_000 + late;
      expect((await shown(world, taskId)).state).to.equal(late < 0 ? 'LEASED' : 'WAITING');
      const again = (await world.ask(leaseRequest({ workerId: 'w2' }))) as Leased;
      expect(again.leases.map((lease) => lease.attempt)).to.deep.equal(late < 0 ? [] : [2]);
    });
  }

  it('an extension counts from now and never goes beyond the window', async () => {
    const world = await World.started({ executionWindowMs: 15_000 });
    await world.submit();
    const lease = await world.lease();
    world.time += 4_000;
    expect(await world.heartbeat(lease)).to.include({ leaseMs: 10_000, atCap: false });
    world.time += 4_000;
    expect(await world.heartbeat(lease)).to.include({ leaseMs: 7_000, atCap: true });
    world.time += 1_000;
    expect(await world.heartbeat(lease)).to.include({ leaseMs: 6_000, atCap: true, record: null });
    world.time += 6_000;
    expect(refusal(await world.complete(lease)).reason).to.equal('lease_expired');
  });

  it('a wall clock set back an hour over a restart brings no lease back', async () => {
    const world = await World.started();
    await world.submit();
    const lease = await world.lease();
    world.time += 10_001;
    await world.tick();
    world.wallOffset = -3_600_000;
    await world.restart();
    expect(refusal(await world.complete(lease))).to.include({ outcome: 'CANCELLED' });
    const ats = world.records().map((record) => record.at);
    expect(ats).to.deep.equal(ats.toSorted((a, b) => a - b));
  });

  it('a wall clock more than a year ahead is refused, unless it is accepted', async () => {
    const world = await World.started();
    await world.submit();
    world.wallOffset = 366 * 86_400_000;
    let refused: Error | undefined;
    await world.restart().catch((error: Error) => {
      refused = error;
    });
    expect(refused).to.have.property('code', 'CLOCK_REFUSED');
    await world.restart({ acceptClock: true });
    expect(world.modes.at(-1)).to.equal('serving');
  });
});

describe('coordinator: attempts', () => {
  it('the attempt after the last allowed one fails the task, not the one before', async () => {
    const world = await World.started({ maxRetries: 2 });
    const taskId = await world.submit();
    for (const state of ['WAITING', 'WAITING', 'FAILED']) {
      expect(await world.fail(await world.lease())).to.include({ taskState: state });
    }
    expect(await shown(world, taskId)).to.include({ state: 'FAILED', attempt: 3, failures: 3 });
  });

  it('releases cost no attempt until the hundredth in a row', async () => {
    const world = await World.started({ maxRetries: 0 });
    await world.submit();
    for (let release = 1; release <= 101; release += 1) {
      const answer = await world.fail(await world.lease(), { kind: 'released' });
      expect(answer).to.include({ taskState: release <= 100 ? 'WAITING' : 'FAILED' });
    }
  });

  it('a backoff of 0 stays 0 however large its factor has grown', async () => {
    const world = await World.started();
    await world.submit({ maxRetries: 400, backoffMs: 0, backoffFactor: 100 });
    for (let n = 0; n < 300; n += 1) {
      expect(await world.fail(await world.lease())).to.include({ taskState: 'WAITING' });
    }
  });

  it('a poison task is ended instead of granted, and the next one is served', async () => {
    const world = await World.started({ poisonThreshold: 2 });
    const poison = await world.submit();
    for (let n = 0; n < 2; n += 1) {
      await world.lease();
      world.time += 10_000;
    }
    const good = await world.submit();
    expect((await world.lease()).taskId).to.equal(good);
    expect((await shown(world, poison)).state).to.equal('DEAD');
  });
});

describe('coordinator: one outcome for a lease', () => {
  it('two late reports in one batch: one TaskCancelled', async () => {
    const world = await World.started();
    await world.submit();
    const lease = await world.lease();
    world.time += 10_000;
    const { taskId, leaseId } = lease;
    const first = world.take({ op: 'complete', taskId, leaseId });
    const second = world.take({ op: 'fail', taskId, leaseId, reason: 'r', kind: 'error' });
    await world.settle();
    expect(refusal(world.answers.get(first))).to.include({ outcome: 'CANCELLED' });
    expect(refusal(world.answers.get(second))).to.include({
      reason: 'duplicate_report',
      firstOutcome: 'CANCELLED',
      firstReport: 'complete',
    });
    expect(world.types().filter((type) => type === 'TaskCancelled')).to.have.length(1);
  });

  it('the outcome survives a restart', async () => {
    const world = await World.started();
    await world.submit();
    const lease = await world.lease();
    await world.complete(lease);
    await world.restart();
    expect(refusal(await world.fail(lease))).to.include({
      reason: 'duplicate_report',
      firstOutcome: 'COMMITTED',
      firstReport: 'complete',
      taskState: 'COMPLETED',
    });
  });
});

describe('coordinator: parked requests', () => {
  it('a submit wakes exactly one asker, the oldest', async () => {
    const world = await World.started();
    const first = world.take(leaseRequest({ workerId: 'w1', waitMs: 5_000 }));
    const second = world.take(leaseRequest({ workerId: 'w2', waitMs: 5_000 }));
    world.time += 700;
    await world.submit();
    expect(world.answers.get(first)).to.deep.include({ waitedMs: 700 });
    expect(world.answers.has(second)).to.equal(false);
    world.time += 4_300;
    await world.tick();
    expect((world.answers.get(second) as Leased).empty?.reason).to.equal('no_task');
  });

  it('a withdrawn request grants nothing; a hurried one is answered empty', async () => {
    const world = await World.started();
    const gone = world.take(leaseRequest({ waitMs: 5_000 }));
    const closing = world.take(leaseRequest({ waitMs: 5_000 }));
    world.loop.withdraw(gone);
    world.loop.hurry(closing);
    await world.submit();
    expect(world.answers.has(gone)).to.equal(false);
    expect((world.answers.get(closing) as Leased).leases).to.deep.equal([]);
    expect(world.types()).to.deep.equal(['TaskCreated']);
  });

  it('a worker at its capacity is parked until one of its leases ends', async () => {
    const world = await World.started();
    await world.submit();
    await world.submit();
    const lease = await world.lease({ capacity: 1 });
    const parked = world.take(leaseRequest({ capacity: 1, waitMs: 60_000 }));
    await world.settle();
    expect(world.answers.has(parked)).to.equal(false);
    await world.complete(lease);
    expect((world.answers.get(parked) as Leased).leases).to.have.length(1);
  });

  it('a delayed task wakes its asker when its time has come', async () => {
    const world = await World.started();
    await world.submit({ delayMs: 300 });
    const parked = world.take(leaseRequest({ waitMs: 1_000 }));
    world.time += 299;
    await world.tick();
    expect(world.answers.has(parked)).to.equal(false);
    world.time += 1;
    await world.tick();
    expect((world.answers.get(parked) as Leased).leases).to.have.length(1);
  });

  it('what became eligible by time goes to the parked asker, not to a newer request', async () => {
    const world = await World.started();
    await world.submit({ delayMs: 300 });
    const parked = world.take(leaseRequest({ workerId: 'w1', waitMs: 1_000 }));
    world.time += 400;
    const newer = world.take(leaseRequest({ workerId: 'w2' }));
    await world.settle();
    expect((world.answers.get(parked) as Leased).leases).to.have.length(1);
    expect((world.answers.get(newer) as Leased).leases).to.have.length(0);
  });
});

describe('coordinator: nothing leaves before the flush', () => {
  it('answers, refusals and reads wait for the records that they saw', async () => {
    const world = await World.started({}, new MemoryLog());
    const log = new MemoryLog({ store: world.log.store, manual: true });
    world.log = log;
    const manual = new World({}, log);
    const starting = manual.loop.start();
    while (!log.pending) await Promise.resolve();
    log.settle();
    await starting;
    const submit = manual.take({ op: 'submit', queue: 'q', payload: new Uint8Array() });
    const read = manual.take({ op: 'stats' });
    const refused = manual.take({ op: 'kill', taskId: 999, reason: 'r' });
    manual.loop.flush();
    await new Promise((resolve) => setImmediate(resolve));
    expect([...manual.answers.keys()]).to.deep.equal([]);
    log.settle();
    await manual.loop.settled();
    expect([...manual.answers.keys()]).to.deep.equal([submit, read, refused]);
  });
});

describe('coordinator: an append that fails', () => {
  it('leaves state and log as they were, tells everybody, goes on with a new epoch', async () => {
    const world = await World.started();
    await world.submit();
    const before = stateDigest(world.loop.view.state);
    const records = world.records().length;
    world.log.plan('failed', 'failed');
    const parked = world.take(leaseRequest({ queues: ['none'], waitMs: 60_000 }));
    const lost = world.take(leaseRequest());
    const read = world.take({ op: 'stats' });
    const emptyHanded = world.take(leaseRequest({ queues: ['none'] }));
    await world.settle();
    for (const ticket of [parked, lost, read, emptyHanded]) {
      expect(refusal(world.answers.get(ticket))).to.include({
        outcome: 'UNAVAILABLE',
        reason: 'log_unavailable',
      });
    }
    expect(refusal(world.answers.get(lost)).detail).to.include('did not take the record');
    for (const ticket of [read, emptyHanded]) {
      expect(refusal(world.answers.get(ticket)).detail).to.include('nothing was changed');
    }
    expect(world.modes.at(-1)).to.equal('rebuilding');
    const waiting = world.take({ op: 'stats' });
    expect(world.answers.has(waiting)).to.equal(false);
    while (world.modes.at(-1) !== 'read-only') await Promise.resolve();
    expect(world.answers.get(waiting)).to.have.property('kind', 'overview');
    expect(world.records()).to.have.length(records);
    expect(stateDigest(world.loop.view.state)).to.equal(before);
    const write = await world.ask({ op: 'submit', queue: 'q', payload: new Uint8Array() });
    expect(refusal(write).reason).to.equal('log_unavailable');
    expect(await world.ask({ op: 'stats' })).to.have.property('kind', 'overview');
    world.time += 5_000;
    await world.tick();
    while (world.modes.at(-1) !== 'serving') await Promise.resolve();
    expect(world.records().at(-1)?.type).to.equal('CoordinatorStarted');
    expect(await world.submit()).to.be.greaterThan(records);
    expect(world.broken()).to.deep.equal([]);
  });

  it('believes a log that took the records although it said it had not', async () => {
    const world = await World.started();
    world.log.plan('lost answer');
    const content = { requestId: 'r', contentHash: new Uint8Array(16) };
    const submit = { op: 'submit', queue: 'q', payload: new Uint8Array(), ...content } as const;
    expect(refusal(await world.ask(submit)).reason).to.equal('log_unavailable');
    while (world.modes.at(-1) !== 'serving') await Promise.resolve();
    expect(await world.ask(submit)).to.include({ kind: 'submitted', deduplicated: true });
  });

  it('stops when another writer has the log', async () => {
    const world = await World.started();
    const other = new World({}, new MemoryLog({ store: world.log.store }));
    await other.loop.start();
    const ticket = world.take({ op: 'submit', queue: 'q', payload: new Uint8Array() });
    await world.settle();
    expect(refusal(world.answers.get(ticket)).outcome).to.equal('UNAVAILABLE');
    expect(world.fatal).to.have.property('code', 'LOG_FENCED');
    expect(await other.submit()).to.be.greaterThan(0);
  });
});

describe('coordinator: forgetting', () => {
  it('forgets what ended, and keeps a redriven task while its origin is remembered', async () => {
    const world = await World.started({ retentionMs: 1_000, retentionFailedMs: 5_000 });
    const done = await world.submit({ requestId: 'r', contentHash: new Uint8Array(16) });
    await world.complete(await world.lease());
    const origin = await world.submit();
    await world.fail(await world.lease(), { kind: 'permanent' });
    await world.ask({ op: 'redrive', taskId: origin });
    const redriven = await world.lease();
    await world.complete(redriven);
    world.time += 2_000;
    await world.tick();
    const known = (taskId: number) => world.ask({ op: 'task', taskId, waitMs: 0, base64: false });
    expect(refusal(await known(done)).reason).to.equal('unknown_task');
    expect((await known(redriven.taskId))?.kind).to.equal('task');
    expect(await world.submit({ requestId: 'r', contentHash: new Uint8Array(16) })).to.not.equal(
      done,
    );
    world.time += 4_000;
    await world.tick();
    expect(refusal(await known(origin)).reason).to.equal('unknown_task');
    expect(refusal(await known(redriven.taskId)).reason).to.equal('unknown_task');
    expect(brokenInvariants(world.loop.view.state)).to.deep.equal([]);
    const again = replay(world.log, { digestText }).state;
    expect(stateDigest(again)).to.equal(stateDigest(world.loop.view.state));
  });
});

describe('coordinator: the order of parked requests over several queues', () => {
  it('an older asker of one queue gets its task, not a newer one that asks for two', async () => {
    const world = await World.started();
    await world.submit({ queue: 'b', delayMs: 50 });
    await world.submit({ queue: 'a', delayMs: 100 });
    await world.submit({ queue: 'a', delayMs: 100 });
    world.take(leaseRequest({ workerId: 'w0', queues: ['a'], waitMs: 60_000 }));
    const older = world.take(leaseRequest({ workerId: 'w1', queues: ['b'], waitMs: 60_000 }));
    const newer = world.take(leaseRequest({ workerId: 'w2', queues: ['a', 'b'], waitMs: 60_000 }));
    world.time += 200;
    await world.tick();
    const queueOf = (ticket: number) => (world.answers.get(ticket) as Leased).leases[0]?.queue;
    expect([queueOf(older), queueOf(newer)]).to.deep.equal(['b', 'a']);
  });

  it('a task that time alone made eligible goes to its older asker', async () => {
    const world = await World.started();
    await world.submit({ queue: 'b', delayMs: 50 });
    const older = world.take(leaseRequest({ workerId: 'w1', queues: ['b'], waitMs: 60_000 }));
    const newer = world.take(leaseRequest({ workerId: 'w2', queues: ['a', 'b'], waitMs: 60_000 }));
    world.time += 200;
    await world.submit({ queue: 'a' });
    const queueOf = (ticket: number) => (world.answers.get(ticket) as Leased).leases[0]?.queue;
    expect([queueOf(older), queueOf(newer)]).to.deep.equal(['b', 'a']);
  });

  it('a request that only ended poison tasks waits on', async () => {
    const world = await World.started({ poisonThreshold: 1 });
    await world.submit();
    await world.lease();
    const parked = world.take(leaseRequest({ workerId: 'w2', waitMs: 60_000 }));
    world.time += 10_000;
    await world.tick();
    expect(world.types().at(-1)).to.equal('TaskDead');
    expect(world.answers.has(parked)).to.equal(false);
    const taskId = await world.submit();
    expect((world.answers.get(parked) as Leased).leases[0]?.taskId).to.equal(taskId);
  });
});
