// Holds pages of the log to the plain meaning of their filters: read everything, keep what matches.
// Logs and questions are random; the expected answer is one line of filter and slice.

import { expect } from 'chai';
import fc from 'fast-check';
import { type LogRecord, RECORD_TYPES, taskOf } from '../../src/model/records.ts';
import { readPage } from '../../src/reader/log-pages.ts';
import { goOn, type LogQuery } from '../../src/reader/log-query.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import { QUEUES, RandomLog } from './random-log.ts';

const small = fc.nat({ max: 40 });
const choices = fc.array(fc.tuple(small, small), { maxLength: 120 });
const question = fc.record({
  from: fc.nat({ max: 60 }),
  limit: fc.integer({ min: 1, max: 30 }),
  tail: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
  task: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
  queue: fc.option(fc.constantFrom(...QUEUES), { nil: undefined }),
  type: fc.option(fc.constantFrom(...RECORD_TYPES), { nil: undefined }),
});

const pagingOf = ({ log }: RandomLog) => ({
  log,
  queueOf: queueNames(log),
  pause: () => Promise.resolve(),
});

/** Asks page by page until the range or the limit is reached. */
async function readAll(random: RandomLog, asked: LogQuery): Promise<number[]> {
  const seen: number[] = [];
  let query = asked;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const left = asked.limit - seen.length;
    const page = await readPage(pagingOf(random), { ...query, limit: left }, random.log.lastNumber);
    const lines = page.text.split('\n').filter((line) => line !== '');
    expect(lines).length(page.records);
    seen.push(...lines.map((line) => (JSON.parse(line) as { seq: number }).seq));
    if (seen.length >= asked.limit || page.next > page.to) return seen;
    query = { ...goOn(query, page.next), to: page.to };
  }
  throw new Error('the pages do not end');
}

describe('pages of the log', () => {
  it('are what filters and slices of the whole log are', async () => {
    await fc.assert(
      fc.asyncProperty(choices, question, async (steps, { task, ...asked }) => {
        const random = new RandomLog(steps);
        const chosen = task === undefined ? undefined : random.tasks[task % 20];
        const queueOf = queueNames(random.log);
        const wanted = (record: LogRecord): boolean =>
          record.seq >= asked.from &&
          (chosen === undefined || taskOf(record) === chosen.id) &&
          (asked.queue === undefined || queueOf(record) === asked.queue) &&
          (asked.type === undefined || record.type === asked.type);
        const all = (random.log.records as LogRecord[]).filter(wanted);
        const tailed = asked.tail === undefined ? all : all.slice(-asked.tail);
        const expected = tailed.slice(0, asked.limit).map(({ seq }) => seq);
        const chain = chosen && { taskId: chosen.id, chain: random.chainOf(chosen) };
        expect(await readAll(random, { ...asked, ...chain })).deep.equal(expected);
        const scan = chosen && { taskId: chosen.id };
        expect(await readAll(random, { ...asked, ...scan })).deep.equal(expected);
      }),
      { numRuns: 400 },
    );
  });

  it('read a task along its chain, not through the log', async () => {
    const random = new RandomLog([[0, 2]]);
    for (let i = 0; i < 30_000; i += 1) random.step(i + 1, 1);
    const task = random.tasks[0];
    if (task === undefined) throw new Error('no task');
    random.step(0, 1);
    random.log.gets = 0;
    random.log.reads = 0;
    const query = { from: 1, limit: 100, taskId: task.id, chain: random.chainOf(task) };
    const page = await readPage(pagingOf(random), query, random.log.lastNumber);
    expect(page.records).equal(task.attempt + 1 + task.extensions);
    expect(random.log.reads).equal(0);
    expect(random.log.gets).most(3 * page.records);
  });

  it('pause within a long search, and end when nobody waits any more', async () => {
    const random = new RandomLog([]);
    for (let i = 0; i < 20_000; i += 1) random.step(0, 1);
    let pauses = 0;
    const paging = {
      ...pagingOf(random),
      pause: async () => void (pauses += 1),
      cancelled: () => pauses === 2,
    };
    const page = await readPage(paging, { from: 1, limit: 1, type: 'TaskDead' }, 20_000);
    expect(pauses).equal(2);
    expect(page.records).equal(0);
    expect(random.log.reads).most(10_000);
  });

  it('show nothing beyond what is durable', async () => {
    const random = new RandomLog([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    const page = await readPage(pagingOf(random), { from: 1, limit: 10 }, 2);
    expect(page).include({ records: 2, next: 3, to: 2 });
  });

  it('give a record that is larger than a page a page of its own', async () => {
    const random = new RandomLog([
      [0, 1],
      [1, 9_000],
      [2, 1],
    ]);
    const sizes: number[] = [];
    let query: LogQuery = { from: 1, limit: 10 };
    for (let next = 1; next <= 3; ) {
      const page = await readPage(pagingOf(random), query, 3);
      sizes.push(page.records);
      next = page.next;
      query = goOn(query, next);
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).equal(3);
    expect(sizes.length).above(1);
  });
});
