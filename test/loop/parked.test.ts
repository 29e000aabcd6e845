// The requests that wait, against a plain list of them: whatever is parked and taken, nothing stays
// behind under a ticket, a time, a queue, a worker or a task.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Parked, ParkedRequests } from '../../src/loop/parked.ts';
import type { LeaseRequest, TaskRequest } from '../../src/model/request.ts';
import { leaseRequest } from '../support/world.ts';

const QUEUES = ['a', 'b', 'c'];
const WORKERS = ['v', 'w'];
const TASKS = [1, 2];

const lease = fc.record({
  queues: fc.subarray(QUEUES, { minLength: 1 }),
  workerId: fc.constantFrom(...WORKERS),
  waitMs: fc.integer({ min: 1, max: 10 }),
});
const watch = fc.record({ taskId: fc.constantFrom(...TASKS), waitMs: fc.nat(10) });
const step = fc.oneof(
  lease.map((more): LeaseRequest => leaseRequest(more)),
  watch.map((more): TaskRequest => ({ op: 'task', base64: false, ...more })),
  fc.record({ take: fc.nat() }),
  fc.record({ passes: fc.integer({ min: 1, max: 4 }) }),
);

interface Waiting {
  readonly ticket: number;
  readonly request: LeaseRequest | TaskRequest;
  readonly parkedAt: number;
}

const until = ({ parkedAt, request }: Waiting): number => parkedAt + request.waitMs;
const tickets = (parked: Iterable<Parked>): number[] => [...parked].map(({ ticket }) => ticket);

/** Everything that can be asked of it is what the list says. */
function same(parked: ParkedRequests, list: readonly Waiting[]): void {
  expect(parked.size).to.equal(list.length);
  expect(parked.tickets()).to.deep.equal(list.map(({ ticket }) => ticket));
  const leases = list.flatMap(({ ticket, request }) =>
    request.op === 'lease' ? [{ ticket, ...request }] : [],
  );
  const asked = new Set(leases.flatMap(({ queues }) => queues));
  for (const queue of QUEUES) {
    const askers = leases.filter(({ queues }) => queues.includes(queue));
    expect(tickets(parked.askersOf(queue))).to.deep.equal(askers.map(({ ticket }) => ticket));
  }
  const few = new Map(QUEUES.slice(1).map((queue) => [queue, queue]));
  const many = new Map([...'abcdefgh'].map((queue) => [queue, queue]));
  for (const among of [few, many]) {
    const both = [...parked.queuesAskedFor(among)];
    expect(both).to.have.members([...asked].filter((queue) => among.has(queue)));
  }
  for (const worker of WORKERS) {
    const own = leases.filter(({ workerId }) => workerId === worker);
    expect(parked.queuesOf(worker)).to.deep.equal(own.flatMap(({ queues }) => queues));
  }
  for (const taskId of TASKS) {
    const watchers = list.filter(
      ({ request }) => request.op === 'task' && request.taskId === taskId,
    );
    expect(tickets(parked.watchersOf(taskId))).to.deep.equal(watchers.map(({ ticket }) => ticket));
  }
}

describe('parked requests', () => {
  it('are those that were parked and not taken, by whatever they are asked for', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const parked = new ParkedRequests();
        let list: Waiting[] = [];
        let now = 0;
        for (const [ticket, what] of steps.entries()) {
          if ('op' in what) {
            parked.add(ticket, what, now);
            list.push({ ticket, request: what, parkedAt: now });
          } else if ('take' in what) {
            const one = list[what.take % (list.length || 1)];
            const taken = parked.take(one?.ticket ?? ticket);
            expect(taken?.ticket).to.equal(one?.ticket);
            if (taken !== undefined) expect(parked.has(taken)).to.equal(false);
            list = list.filter((each) => each !== one);
          } else {
            now += what.passes;
            const due = list.filter((each) => until(each) <= now);
            const taken: number[] = [];
            for (let next = parked.takeDue(now); next !== undefined; next = parked.takeDue(now)) {
              expect(next.until).to.be.at.least(next.parkedAt);
              taken.push(next.ticket);
            }
            const times = taken.map((each) => due.find((one) => one.ticket === each) as Waiting);
            expect(taken).to.have.members(due.map(({ ticket: each }) => each));
            expect(times).to.deep.equal(times.toSorted((a, b) => until(a) - until(b)));
            list = list.filter((each) => !due.includes(each));
          }
          same(parked, list);
        }
        const left = list.map(({ ticket }) => ticket);
        expect(tickets(parked.takeAll())).to.deep.equal(left);
        same(parked, []);
      }),
    );
  });
});
