// That a request costs the same however much is remembered, shown by counting, not by the clock:
// how many numbers of the state are read and written for one lifecycle beside 1 k to 1 M waiting,
// delayed, leased and finished tasks, many queues and parked requests, and what an idle tick reads.

import { Column, WideColumn } from '../src/core/columns.ts';
import { Heap, type Placed } from '../src/core/heap.ts';
import type { Coordinator } from '../src/loop/coordinator.ts';
import { type Bench, type Row, rowOf } from './harness.ts';
import { KeptLog } from './kept-log.ts';
import { complete, lease, settle, startCoordinator, submit } from './records.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const PARKED_MAX = 10_000;
const LIFECYCLES = 2_000;

const counted = { columns: 0, heaps: 0 };

/** Counts every access to a column, and every step in a heap of objects. */
function countAccesses(): () => void {
  const uncount = [Column, WideColumn].map(({ prototype }) => countColumns(prototype));
  const heap = Heap.prototype as unknown as { put(place: number, item: Placed): void };
  const { put } = heap;
  heap.put = function counting(place, item) {
    counted.heaps += 1;
    put.call(this, place, item);
  };
  return () => {
    for (const restore of uncount) restore();
    heap.put = put;
  };
}

function countColumns(prototype: Pick<Column, 'get' | 'set'>): () => void {
  const { get, set } = prototype;
  prototype.get = function counting(row) {
    counted.columns += 1;
    return get.call(this, row);
  };
  prototype.set = function counting(row, value) {
    counted.columns += 1;
    set.call(this, row, value);
  };
  return () => Object.assign(prototype, { get, set });
}

type Beside = 'waiting' | 'delayed' | 'leased' | 'finished' | 'queues' | 'parked';
type Grow = (coordinator: Coordinator, from: number, to: number) => Promise<void>;

const held: { taskId: number; leaseId: number }[] = [];

const eachGroup = async (
  coordinator: Coordinator,
  from: number,
  to: number,
  take: (index: number) => void,
): Promise<void> => {
  for (let index = from; index < to; index += 1) {
    take(index);
    if (index % 1_024 === 0) await settle(coordinator);
  }
  await settle(coordinator);
};

const elsewhere = { ...lease(), queues: ['elsewhere'] };

const GROW: Record<Beside, Grow> = {
  waiting: (coordinator, from, to) =>
    eachGroup(coordinator, from, to, () => coordinator.take(1, submit())),
  delayed: (coordinator, from, to) =>
    eachGroup(coordinator, from, to, (index) =>
      coordinator.take(1, { ...submit(), delayMs: 3_600_000 + ((index * 7_919) % 1_000_003) }),
    ),
  leased: (coordinator, from, to) =>
    eachGroup(coordinator, from, to, () => {
      coordinator.take(1, { ...submit(), queue: 'elsewhere' });
      coordinator.take(1, elsewhere);
    }),
  async finished(coordinator, from, to) {
    await eachGroup(coordinator, from, to, () => coordinator.take(1, submit()));
    held.length = 0;
    await eachGroup(coordinator, from, to, () => coordinator.take(1, lease()));
    const ended = held.splice(0);
    await eachGroup(coordinator, from, to, (index) => {
      const one = ended[index - from] as (typeof ended)[number];
      coordinator.take(1, complete(one.taskId, one.leaseId));
    });
  },
  queues: (coordinator, from, to) =>
    eachGroup(coordinator, from, to, (index) =>
      coordinator.take(1, { ...submit(), queue: `queue-${index}` }),
    ),
  parked: (coordinator, from, to) =>
    eachGroup(coordinator, from, to, (index) =>
      coordinator.take(1_000 + index, {
        ...lease(),
        workerId: `idle-${index}`,
        queues: [`idle-${index}`],
        waitMs: 3_600_000,
      }),
    ),
};

interface Counts {
  readonly columns: number;
  readonly heaps: number;
  readonly us: number;
  readonly tickColumns: number;
  readonly tickUs: number;
}

async function lifecycles(coordinator: Coordinator): Promise<Counts> {
  Object.assign(counted, { columns: 0, heaps: 0 });
  held.length = 0;
  const began = performance.now();
  for (let done = 0; done < LIFECYCLES; done += 1) {
    coordinator.take(1, submit());
    coordinator.take(2, lease());
    coordinator.flush();
    await coordinator.settled();
    const one = held.pop();
    if (one === undefined) throw new Error('nothing was leased');
    coordinator.take(3, complete(one.taskId, one.leaseId));
  }
  await settle(coordinator);
  const us = ((performance.now() - began) * 1_000) / LIFECYCLES;
  const { columns, heaps } = counted;
  counted.columns = 0;
  const ticking = performance.now();
  for (let tick = 0; tick < 100; tick += 1) coordinator.tick();
  const tickUs = ((performance.now() - ticking) * 1_000) / 100;
  return {
    columns: columns / LIFECYCLES,
    heaps: heaps / LIFECYCLES,
    us,
    tickColumns: counted.columns / 100,
    tickUs,
  };
}

async function beside(what: Beside, sizes: readonly number[]): Promise<Row[]> {
  const log = new KeptLog();
  const coordinator = await startCoordinator(log, (response) => {
    if (response.kind !== 'leased') return;
    for (const { taskId, leaseId, queue } of response.leases) {
      if (queue === 'default') held.push({ taskId, leaseId });
    }
  });
  const taken: Counts[] = [];
  let from = 0;
  await lifecycles(coordinator);
  for (const size of sizes) {
    await GROW[what](coordinator, from, size);
    from = size;
    taken.push(await lifecycles(coordinator));
  }
  await coordinator.stop();
  const shown = sizes.map((size) => `${size / 1_000} k`);
  const name = `beside ${shown[0]} to ${shown.at(-1)} ${what}`;
  const of = (key: keyof Counts): number[] => taken.map((counts) => counts[key]);
  return [
    rowOf(`${name}: a lifecycle`, 'accesses', of('columns'), { goal: flat(of('columns')) }),
    rowOf(`${name}: a lifecycle`, 'steps in heaps', of('heaps'), { goal: flat(of('heaps')) }),
    rowOf(`${name}: a tick`, 'accesses', of('tickColumns'), { goal: flat(of('tickColumns')) }),
    rowOf(`${name}: a lifecycle`, 'µs', of('us')),
    rowOf(`${name}: a tick`, 'µs', of('tickUs')),
  ];
}

/** A thousand times as much may cost a few steps of a search more, and no more than that. */
function flat(values: readonly number[]): { text: string; kept: boolean } {
  const [first, last] = [values[0] as number, values.at(-1) as number];
  return { text: 'flat', kept: last <= first * 1.25 + 2 };
}

export const bench: Bench = {
  about: 'how many numbers of the state one lifecycle reads and writes, beside how much',
  async run({ say }) {
    const uncount = countAccesses();
    try {
      const rows: Row[] = [];
      for (const what of Object.keys(GROW) as Beside[]) {
        say(what);
        const sizes = what === 'parked' ? SIZES.filter((size) => size <= PARKED_MAX) : SIZES;
        rows.push(...(await beside(what, what === 'queues' ? SIZES.slice(0, 3) : sizes)));
      }
      return rows;
    } finally {
      uncount();
    }
  },
};
