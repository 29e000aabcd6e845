// When a log that takes nothing is asked again, and what is said and served meanwhile.

import { expect } from 'chai';
import { type AppendResult, LogError } from '../../src/log/log.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import type { CoordinatorStarted } from '../../src/model/records.ts';
import type { Refusal } from '../../src/model/refusal.ts';
import { World } from '../support/world.ts';

/** Tells when somebody wants to become the writer. */
class WatchedLog extends MemoryLog {
  readonly startedAt: number[] = [];
  now: () => number = () => 0;
  reopens = 0;

  override start(record: CoordinatorStarted): Promise<AppendResult> {
    this.startedAt.push(this.now());
    return super.start(record);
  }

  override reopen(): Promise<void> {
    this.reopens += 1;
    return super.reopen();
  }
}

const SUBMIT = { op: 'submit', queue: 'default', payload: new Uint8Array() } as const;

async function turns(): Promise<void> {
  for (let n = 0; n < 100; n += 1) await Promise.resolve();
}

/** A world whose log has begun to fail and will so many times more. */
async function failing(times: number) {
  const log = new WatchedLog();
  const world = new World({}, log);
  log.now = () => world.time;
  await world.loop.start();
  await world.submit();
  log.startedAt.length = 0;
  log.plan('failed', ...Array(times).fill('failed'));
  world.take(SUBMIT);
  await world.settle();
  await turns();
  return { world, log };
}

/** Lets time pass in small ticks. */
async function pass(world: World, ms: number): Promise<void> {
  const until = world.time + ms;
  while (world.time < until) {
    world.time += 10;
    await world.tick();
    await turns();
  }
}

describe('recovery: a log that takes nothing', () => {
  it('is asked again at once, after 100 ms, doubling to 5 s, anew the next time', async () => {
    const { world, log } = await failing(9);
    await pass(world, 30_000);
    const pauses = log.startedAt.slice(1).map((at, n) => at - (log.startedAt[n] as number));
    expect(pauses).to.deep.equal([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
    expect(world.modes.at(-1)).to.equal('serving');
    await world.submit();
    log.startedAt.length = 0;
    log.plan('failed', 'failed', 'failed');
    world.take(SUBMIT);
    await world.settle();
    await turns();
    await pass(world, 1_000);
    expect(log.startedAt.slice(1).map((at, n) => at - (log.startedAt[n] as number))).to.deep.equal([
      100, 200,
    ]);
    expect(world.broken()).to.deep.equal([]);
  });

  it('says after how long it is worth another try', async () => {
    const { world } = await failing(4);
    const asked: unknown[] = [];
    for (let n = 0; n < 3; n += 1) {
      asked.push(((await world.ask(SUBMIT)) as Refusal).retryAfterMs);
      await pass(world, asked.at(-1) as number);
    }
    expect(asked).to.deep.equal([200, 400, 800]);
  });

  it('is asked by one probe at a time', async () => {
    const { world, log } = await failing(1);
    log.plan('stalled');
    await pass(world, 10_000);
    expect(log.startedAt).to.have.length(2);
    log.settle('failed');
    await turns();
    await pass(world, 10_000);
    expect(log.startedAt).to.have.length(3);
    expect(world.modes.at(-1)).to.equal('serving');
  });

  it('is opened anew after each refusal, and what it holds then is served', async () => {
    const { world, log } = await failing(0);
    expect(log.reopens).to.equal(1);
    await pass(world, 10);
    expect(await world.submit()).to.be.greaterThan(0);
    log.plan('failed', 'lost answer');
    world.take(SUBMIT);
    await world.settle();
    await turns();
    // The start was written although it was told as failed: it counts, and is the newest epoch.
    expect(world.modes.at(-1)).to.equal('read-only');
    expect(log.reopens).to.equal(3);
    expect(world.loop.view.state.lastSeq).to.equal(log.lastNumber);
    expect(world.loop.view.state.epoch).to.equal(log.lastNumber);
    await pass(world, 1_000);
    expect(world.modes.at(-1)).to.equal('serving');
    expect(world.broken()).to.deep.equal([]);
  });

  it('does not serve after it was lost again while the overdue leases were expired', async () => {
    const before = await World.started();
    await before.submit();
    await before.lease();
    const log = new MemoryLog({ store: before.log.store });
    const world = new World({}, log);
    world.time = 20_000;
    log.plan('durable', 'failed');
    await world.loop.start();
    await turns();
    expect(world.modes).to.deep.equal(['rebuilding', 'serving']);
    expect(world.types().slice(-1)).to.deep.equal(['LeaseExpired']);
    expect(world.loop.view.state.starts).to.have.length(3);
    expect(world.broken()).to.deep.equal([]);
  });

  it('tells followers of its start, and of what it holds when it takes nothing', async () => {
    const { world, log } = await failing(0);
    expect(world.durable).to.deep.equal([1, 2, 3]);
    log.plan('lost answer', 'failed');
    world.take(SUBMIT);
    await world.settle();
    await turns();
    expect(world.modes.at(-1)).to.equal('read-only');
    expect(world.durable).to.deep.equal([1, 2, 3, 4]);
    await pass(world, 200);
    expect(world.durable).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('lets reads wait while it is read, but for those whose asker is gone', async () => {
    const { world, log } = await failing(0);
    await pass(world, 10);
    log.plan('failed');
    world.take(SUBMIT);
    await world.settle();
    expect(world.modes.at(-1)).to.equal('rebuilding');
    const gone = world.take({ op: 'stats' });
    const waits = world.take({ op: 'stats' });
    world.loop.withdraw(gone);
    expect(world.answers.has(waits)).to.equal(false);
    await turns();
    await world.settle();
    expect(world.answers.get(waits)).to.have.property('kind', 'overview');
    expect(world.answers.has(gone)).to.equal(false);
  });

  it('lets no more than 4 096 reads wait', async () => {
    const { world, log } = await failing(0);
    await pass(world, 10);
    log.plan('failed');
    world.take(SUBMIT);
    await world.settle();
    const tickets = Array.from({ length: 4_097 }, () => world.take({ op: 'stats' }));
    const last = tickets.pop() as number;
    expect(world.answers.get(last)).to.include({ reason: 'log_unavailable' });
    expect(tickets.some((ticket) => world.answers.has(ticket))).to.equal(false);
    await turns();
    await world.settle();
    for (const ticket of tickets) expect(world.answers.get(ticket)?.kind).to.equal('overview');
  });

  it('that cannot be opened any more ends the process', async () => {
    const { world, log } = await failing(1);
    log.reopen = () => Promise.reject(new LogError('LOG_IO', 'gone'));
    log.plan('failed');
    await pass(world, 1_000);
    expect(world.fatal).to.have.property('code', 'LOG_IO');
    expect(world.loop.view.mode).to.equal('ended');
    const other = await failing(0);
    await pass(other.world, 10);
    other.log.reopen = () => Promise.reject(new LogError('LOG_IO', 'gone'));
    other.log.plan('failed');
    other.world.take(SUBMIT);
    await other.world.settle();
    await turns();
    expect(other.world.fatal).to.have.property('code', 'LOG_IO');
  });
});
