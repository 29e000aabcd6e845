// The bounds of granting: poison tasks of one request, bytes of one answer, names kept; and who is
// woken and withdrawn together.

import { expect } from 'chai';
import { State } from '../../src/core/state.ts';
import { Granting } from '../../src/loop/granting.ts';
import type { Turn } from '../../src/loop/turn.ts';
import type { Leased } from '../../src/model/response.ts';
import { digestText, KNOBS, leaseRequest, World } from '../support/world.ts';

const SUBMIT = { op: 'submit', queue: 'default', payload: new Uint8Array(10) } as const;

/** A world with so many tasks that the next grant ends as poison. */
async function poisoned(count: number): Promise<World> {
  const world = await World.started({ poisonThreshold: 1 });
  for (let n = 0; n < count; n += 1) world.take(SUBMIT);
  await world.settle();
  await world.ask(leaseRequest({ max: count }));
  world.time += 10_000;
  await world.tick();
  return world;
}

/** A loop without tasks: whoever asks is told that there is none. */
const turnWithoutTasks = (): Turn => ({
  context: { state: new State(digestText), knobs: KNOBS, read: () => undefined },
  mode: 'serving',
  stopping: false,
  decide: ({ type }) => expect.fail(`there is nothing to decide: ${type}`),
  answer: () => {},
});

const dead = (world: World): number => world.types().filter((type) => type === 'TaskDead').length;

describe('granting: its bounds', () => {
  it('a request ends 100 poison tasks, then answers with what it has', async () => {
    const world = await poisoned(101);
    const first = (await world.ask(leaseRequest({ waitMs: 60_000 }))) as Leased;
    expect(first.leases).to.deep.equal([]);
    expect(dead(world)).to.equal(100);
    expect(world.loop.view.parkedRequests).to.equal(0);
    const good = await world.submit();
    const next = (await world.ask(leaseRequest())) as Leased;
    expect(next.leases.map(({ taskId }) => taskId)).to.deep.equal([good]);
    expect(dead(world)).to.equal(101);
  });

  it('a parked request that meets so many is answered too', async () => {
    const world = await World.started({ poisonThreshold: 1 });
    for (let n = 0; n < 101; n += 1) world.take(SUBMIT);
    await world.settle();
    await world.ask(leaseRequest({ max: 101 }));
    const parked = world.take(leaseRequest({ waitMs: 60_000 }));
    world.time += 10_000;
    await world.tick();
    expect((world.answers.get(parked) as Leased).leases).to.deep.equal([]);
    expect(dead(world)).to.equal(100);
    expect(world.loop.view.parkedRequests).to.equal(0);
  });

  it('a request that gave up on poison tasks is told of no task, whatever is left', async () => {
    const world = await poisoned(101);
    await world.submit({ delayMs: 50 });
    world.time += 60;
    const { leases, empty } = (await world.ask(leaseRequest())) as Leased;
    expect(leases).to.deep.equal([]);
    expect(empty).to.deep.equal({ reason: 'no_task' });
  });

  // Half of its connection was closed between the time of the task and the next tick.
  it('the time that an empty answer tells never lies before the answer', async () => {
    const world = await World.started();
    await world.submit({ delayMs: 50 });
    const submittedAt = world.records().at(-1)?.at as number;
    const parked = world.take(leaseRequest({ waitMs: 60_000 }));
    world.time += 80;
    world.loop.hurry(parked);
    await world.settle();
    const { leases, empty } = world.answers.get(parked) as Leased;
    expect(leases).to.deep.equal([]);
    expect(empty).to.deep.equal({ reason: 'not_yet_eligible', nextEligibleAt: submittedAt + 80 });
  });

  it('an answer has no further lease once it has so many bytes', async () => {
    const world = await World.started({ answerMaxBytes: 25 });
    for (let n = 0; n < 10; n += 1) world.take(SUBMIT);
    const { leases } = (await world.ask(leaseRequest({ max: 10 }))) as Leased;
    expect(leases).to.have.length(3);
  });

  it('the times of 100 000 queues are kept, the one that was asked for longest ago goes', () => {
    const granting = new Granting(turnWithoutTasks());
    const { sightings } = granting;
    const asked = () => sightings.newestAsked(200_000);
    const ask = (queues: string[]) => granting.take(1, leaseRequest({ queues }), 0);
    for (let n = 0; n < 100; n += 1) ask(Array.from({ length: 1_000 }, (_, i) => `q${n}.${i}`));
    expect(asked()).to.have.length(100_000);
    ask(['q0.0']);
    expect(sightings.lastAsked('q0.1')).to.deep.equal({ at: 0, workerId: 'w1' });
    ask(['one more']);
    expect(asked()).to.have.length(100_000);
    expect(asked().slice(-2)).to.deep.equal(['q0.0', 'one more']);
    expect(sightings.lastAsked('q0.1')).to.equal(undefined);
  });
});

describe('granting: together', () => {
  it('the parked requests of one that is gone are withdrawn, those of others stay', async () => {
    const world = await World.started();
    const tickets = [1, 2, 3, 4].map(() => world.take(leaseRequest({ waitMs: 60_000 })));
    const [a, , c] = tickets as [number, number, number, number];
    world.loop.withdrawWhere((ticket) => ticket === a || ticket === c);
    expect(world.loop.view.parkedRequests).to.equal(2);
    for (let n = 0; n < 2; n += 1) world.take(SUBMIT);
    await world.settle();
    expect(tickets.map((ticket) => world.answers.has(ticket))).to.deep.equal([
      false,
      true,
      false,
      true,
    ]);
  });

  it('a kill gives the worker of the task room for what it waits for', async () => {
    const world = await World.started();
    const first = await world.submit();
    const second = await world.submit();
    await world.ask(leaseRequest({ capacity: 1 }));
    const parked = world.take(leaseRequest({ capacity: 1, waitMs: 60_000 }));
    await world.ask({ op: 'kill', taskId: first, reason: 'r' });
    const { leases } = world.answers.get(parked) as Leased;
    expect(leases.map(({ taskId }) => taskId)).to.deep.equal([second]);
  });

  it('nothing is parked once the loop stops, and nothing stays parked', async () => {
    const world = await World.started();
    const taskId = await world.submit({ queue: 'other' });
    const ask = () => [
      world.take(leaseRequest({ waitMs: 60_000 })),
      world.take({ op: 'task', taskId, waitMs: 60_000, base64: false }),
    ];
    const before = ask();
    const stopped = world.loop.stop();
    const after = ask();
    await stopped;
    await world.settle();
    for (const tickets of [before, after]) {
      const [leased, shown] = tickets.map((ticket) => world.answers.get(ticket));
      expect(leased).to.have.nested.property('empty.reason', 'no_task');
      expect(shown).to.have.nested.property('task.state', 'WAITING');
    }
  });

  it('who waits for the end of a task hears of a kill', async () => {
    const world = await World.started();
    const taskId = await world.submit();
    const watcher = world.take({ op: 'task', taskId, waitMs: 60_000, base64: false });
    await world.ask({ op: 'kill', taskId, reason: 'r' });
    expect(world.answers.get(watcher)).to.have.nested.property('task.state', 'DEAD');
  });

  it('how long tasks were eligible before they were leased is counted in seconds', async () => {
    const world = await World.started();
    await world.submit({ delayMs: 500 });
    world.time += 2_500;
    await world.lease();
    const { sum, counts } = world.loop.view.histograms().eligible_to_lease_seconds;
    expect(sum).to.equal(2);
    expect(counts.reduce((all, count) => all + count)).to.equal(1);
  });
});
