// Long lists of queues and workers: their orders, their pages, and that other requests are decided
// while a long one is looked at.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import { SLICE_ROWS } from '../../src/core/queue-list.ts';
import { MemoryLog } from '../../src/log/memory-log.ts';
import type { RequestOf } from '../../src/model/request.ts';
import type { Response } from '../../src/model/response.ts';
import { ANSWERS } from '../../src/protocol/answer-schemas.ts';
import { format } from '../../src/protocol/answer-text.ts';
import { leaseRequest, World } from '../support/world.ts';

const SUBMIT = {
  op: 'submit' as const,
  queue: 'default',
  payload: new TextEncoder().encode('p'),
};

type Row = Readonly<Record<string, unknown>>;
interface Page {
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly more: number;
  readonly since: number;
}
type Asked = Omit<RequestOf<'queues'>, 'op'> & Omit<RequestOf<'workers'>, 'op' | 'sort'>;
const START = 1_700_000_000_000;
const ajv = new Ajv({ allowUnionTypes: true });
const isQueues = ajv.compile(ANSWERS.Queues);
const isWorkers = ajv.compile(ANSWERS.Workers);

/** As a client sees it: the text of the answer, held against its description. */
function pageOf(answer: Response | undefined): Page {
  const body = JSON.parse(format(answer as Response)) as Record<string, unknown>;
  const isWhole = 'queues' in body ? isQueues : isWorkers;
  expect(isWhole(body), JSON.stringify(isWhole.errors)).to.equal(true);
  return { ...body, rows: body['queues'] ?? body['workers'] } as unknown as Page;
}

const queues = async (world: World, more: Partial<Asked> = {}): Promise<Page> =>
  pageOf(await world.ask({ op: 'queues', ...more }));
const workers = async (world: World, more: object = {}): Promise<Page> =>
  pageOf(await world.ask({ op: 'workers', ...more }));
const names = ({ rows }: Page): unknown[] => rows.map((row) => row['queue'] ?? row['worker_id']);

async function threeQueues(): Promise<World> {
  const world = await World.started();
  await world.submit({ queue: 'late', delayMs: 5_000 });
  await world.submit({ queue: 'late', delayMs: 5_000 });
  world.time += 100;
  await world.submit({ queue: 'busy' });
  await world.submit({ queue: 'busy' });
  await world.submit({ queue: 'busy' });
  world.time += 100;
  await world.submit({ queue: 'alone' });
  return world;
}

describe('lists of queues', () => {
  it('come in each order', async () => {
    const world = await threeQueues();
    await world.ask(leaseRequest({ queues: ['busy'], workerId: 'w1' }));
    const order = async (sort: NonNullable<Asked['sort']>) => names(await queues(world, { sort }));
    expect(await order('name')).to.deep.equal(['alone', 'busy', 'late']);
    expect(await order('waiting')).to.deep.equal(['busy', 'late', 'alone']);
    expect(await order('delayed')).to.deep.equal(['late', 'alone', 'busy']);
    expect(await order('leased')).to.deep.equal(['busy', 'alone', 'late']);
    expect(await order('oldest')).to.deep.equal(['busy', 'alone', 'late']);
    expect(await order('rate')).to.deep.equal(['busy', 'late', 'alone']);
    // Nobody has asked for `alone`; `late` has nothing to be asked for yet.
    expect(await order('asked')).to.deep.equal(['alone', 'busy', 'late']);
  });

  it('tell who asked last, and who waits', async () => {
    const world = await threeQueues();
    await world.ask(leaseRequest({ queues: ['busy', 'alone'], workerId: 'w1', max: 4 }));
    world.time += 1_000;
    await world.ask(leaseRequest({ queues: ['busy'], workerId: 'w2', waitMs: 9_000 }));
    const { rows, since } = await queues(world);
    expect(rows[0]).to.include({ last_asked_by: 'w1', last_asked_at: START + 200 });
    expect(rows[1]).to.include({ last_asked_by: 'w2', parked_requests: 1 });
    expect(rows[2]).to.include({ parked_requests: 0 }).and.not.to.have.property('last_asked_at');
    expect(since).to.equal(START);
    await world.restart();
    const after = await queues(world);
    for (const row of after.rows) expect(row).not.to.have.property('last_asked_at');
    expect(after.since).to.be.greaterThan(START);
  });

  it('are read page after page in every order', async () => {
    const world = await threeQueues();
    for (const sort of ['name', 'waiting', 'oldest', 'rate', 'asked'] as const) {
      const whole = names(await queues(world, { sort }));
      const found: unknown[] = [];
      let after: string | undefined;
      do {
        const page = await queues(world, { sort, limit: 1, ...(after && { after }) });
        found.push(...names(page));
        expect(page.more).to.equal(3 - found.length);
        after = page.next ?? undefined;
      } while (after !== undefined);
      expect(found, sort).to.deep.equal(whole);
    }
    expect(names(await queues(world, { after: 'b' }))).to.deep.equal(['busy', 'late']);
    expect(names(await queues(world, { match: 'a' }))).to.deep.equal(['alone', 'late']);
    const refused = await world.ask({ op: 'queues', sort: 'waiting', after: 'busy' });
    expect(refused).to.include({ reason: 'malformed', field: 'after' });
  });

  it('have each queue once while nothing but the time changes, whatever the order', async () => {
    for (const secondsBefore of [0, 30, 100]) {
      const world = await World.started();
      world.time += secondsBefore * 1_000;
      for (let n = 0; n < 40; n += 1) {
        await world.submit({ queue: `q${n}` });
        if (n % 3 === 0) await world.submit({ queue: `q${n}` });
      }
      for (const sort of [
        'name',
        'waiting',
        'delayed',
        'leased',
        'oldest',
        'rate',
        'asked',
      ] as const) {
        const found: unknown[] = [];
        let after: string | undefined;
        do {
          const page = await queues(world, { sort, limit: 3, ...(after && { after }) });
          found.push(...names(page));
          after = page.next ?? undefined;
          world.time += 700;
        } while (after !== undefined && found.length < 100);
        expect(found, `${sort}, ${secondsBefore} s`).to.have.length(40);
        expect(new Set(found).size).to.equal(40);
      }
    }
  });

  it('count what came and ended in the last minute', async () => {
    const world = await World.started();
    world.time += 120_000;
    for (let n = 0; n < 60; n += 1) await world.submit();
    const lease = await world.lease();
    await world.complete(lease);
    const rates = async () => {
      const [row] = (await queues(world)).rows;
      return [row?.['submitted_per_second'], row?.['finished_per_second']];
    };
    expect(await rates()).to.deep.equal([1, 0.017]);
    world.time += 120_000;
    expect(await rates()).to.deep.equal([0, 0]);
  });
});

describe('lists of workers', () => {
  it('hold those that were silent since the start, with what they hold', async () => {
    const world = await World.started({ leaseDurationMs: 60_000 });
    for (let n = 0; n < 3; n += 1) await world.submit();
    await world.ask(leaseRequest({ workerId: 'gone', max: 2, capacity: 2 }));
    world.time += 10;
    await world.ask(leaseRequest({ workerId: 'other' }));
    world.time += 10;
    await world.ask(leaseRequest({ workerId: 'idle' }));
    expect(names(await workers(world))).to.deep.equal(['idle', 'other', 'gone']);
    expect(names(await workers(world, { sort: 'held' }))).to.deep.equal(['gone', 'other', 'idle']);
    expect(names(await workers(world, { sort: 'name' }))).to.deep.equal(['gone', 'idle', 'other']);
    const first = await workers(world, { limit: 1 });
    expect(names(await workers(world, { after: first.next }))).to.deep.equal(['other', 'gone']);
    await world.restart();
    const { rows } = await workers(world, { match: 'g' });
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ worker_id: 'gone', active_leases: 2 });
    expect(rows[0]).to.not.have.any.keys('last_seen_at', 'capacity');
    expect(await world.ask({ op: 'workers', after: 'gone' })).to.include({ field: 'after' });
  });
});

describe('long lists', () => {
  const COUNT = 2 * SLICE_ROWS + 5;
  let world: World;
  before(async () => {
    world = await World.started();
    for (let n = 0; n < COUNT; n += 1) world.take({ ...SUBMIT, queue: `q${n % COUNT}` });
    await world.settle();
  });

  it('are looked at in slices, and others are answered in between', async () => {
    const list = world.take({ op: 'queues', sort: 'waiting', limit: 3 });
    expect(world.answers.has(list)).to.equal(false);
    const stats = world.take({ op: 'stats' });
    expect(world.answers.has(stats)).to.equal(true);
    expect(world.loop.proceed()).to.equal(true);
    await world.submit({ queue: 'q7' });
    expect(world.loop.proceed()).to.equal(false);
    expect(pageOf(world.answers.get(list)).more).to.equal(COUNT - 3);
  });

  it('are answered by ticks alone, and by an orderly stop', async () => {
    const list = world.take({ op: 'queues', limit: 1 });
    await world.tick();
    await world.tick();
    expect(names(pageOf(world.answers.get(list)))).to.deep.equal(['q0']);
    const last = world.take({ op: 'queues', limit: 1 });
    await world.loop.stop();
    expect(names(pageOf(world.answers.get(last)))).to.deep.equal(['q0']);
  });

  it('are begun again when the state is made anew, and what was seen is kept', async () => {
    const log = new MemoryLog();
    const other = new World({}, log);
    await other.loop.start();
    for (let n = 0; n < COUNT; n += 1) other.take({ ...SUBMIT, queue: `q${n}` });
    await other.settle();
    other.time += 30_000;
    await other.ask(leaseRequest({ queues: ['q1'], workerId: 'w' }));
    const list = other.take({ op: 'queues', match: 'q1', limit: 1 });
    log.plan('failed');
    other.take({ ...SUBMIT, queue: 'lost' });
    await other.settle();
    for (let n = 0; n < 1_000 && !other.answers.has(list); n += 1) {
      await Promise.resolve();
      other.loop.proceed();
    }
    const { rows, since } = pageOf(other.answers.get(list));
    expect(since).to.equal(START);
    expect(rows[0]).to.include({ queue: 'q1', leased: 1, last_asked_by: 'w' });
    // One task in the 30 s of this run, which the rebuild has not made younger.
    expect(rows[0]).to.include({ submitted_per_second: 0.033 });
  });
});
