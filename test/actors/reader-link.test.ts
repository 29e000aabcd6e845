// Plays an ingress against a reader over a real port: pages, followers that are slow, killed and
// resumed, and a reader that goes away. The log is in memory; threads are in the end-to-end tests.

import { createHook } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { expect } from 'chai';
import type { Asker } from '../../actors/ingress/gate.ts';
import { ReaderLink } from '../../actors/ingress/reader-link.ts';
import { type Reading, serveReader, type Waiter } from '../../actors/reader/session.ts';
import { RequestTimes } from '../../src/metrics/request-times.ts';
import { rejected } from '../../src/model/refusal.ts';
import type { LogFields, Request } from '../../src/model/request.ts';
import type { Standing } from '../../src/model/response.ts';
import { answerOf } from '../../src/protocol/answer-frame.ts';
import { queueNames } from '../../src/reader/queue-names.ts';
import { RandomLog } from '../reader/random-log.ts';

class Bench {
  readonly random = new RandomLog([
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
  readonly waiters = new Set<Waiter>();
  readonly link: ReaderLink;
  durable = 3;
  pages = 0;
  private readonly far: MessagePort;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.far = port2;
    const { log } = this.random;
    const reading: Reading = {
      log,
      queueOf: queueNames(log),
      removedAt: () => 0,
      durable: () => this.durable,
      wait: (waiter) => void this.waiters.add(waiter),
      forget: (waiter) => void this.waiters.delete(waiter),
    };
    serveReader(port2, () => reading);
    port2.on('message', () => void (this.pages += 1));
    this.link = new ReaderLink({
      ask: (request, answer) => this.answer(request, answer),
      times: new RequestTimes(),
    });
    this.link.connect(port1);
  }

  /** More records, and the announcement that they are durable. */
  grow(steps: number): void {
    for (let i = 0; i < steps; i += 1) this.random.step(this.durable + i, (i * 7 + 5) % 40);
    this.durable = this.random.log.lastNumber;
    for (const waiter of [...this.waiters]) {
      this.waiters.delete(waiter);
      waiter.wake();
    }
  }

  follow = async (fields: LogFields): Promise<Readable> =>
    (await this.link.log({ ...fields, follow: 'true' })).body as Readable;

  close(): void {
    this.link.close();
    this.far.close();
  }

  private answer(request: Request, asker: Asker): number {
    const task = this.random.tasks.find(({ id }) => 'taskId' in request && id === request.taskId);
    if (task === undefined) asker.answered(answerOf(rejected('unknown_task', 'no such task')));
    else {
      const standing: Standing = {
        kind: 'standing',
        taskId: task.id,
        state: task.lease === 0 ? 'WAITING' : 'LEASED',
        queue: task.queue,
        now: this.durable,
        ...this.random.chainOf(task),
        starts: [],
        aheadIsMore: false,
        poisonAtNextGrant: false,
        attemptsLeft: 1,
      };
      asker.answered(answerOf(standing));
    }
    return 1;
  }
}

const seqs = (text: string): number[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { seq: number }).seq);

/** Reads until `count` lines came; whole lines only, as a client that resumes would count them. */
async function take(stream: Readable, count: number): Promise<number[]> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.split('\n').length > count) break;
  }
  return seqs(text);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the reader, asked over its port', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it('answers a page, and the story of a task in each form', async () => {
    const page = await bench.link.log({ from: 1 });
    expect(page).include({ status: 200, contentType: 'application/x-ndjson' });
    expect(seqs(String(page.body))).deep.equal([1, 2, 3]);
    const json = await bench.link.explain(1, 'json');
    expect(JSON.parse(String(json.body))).include({ task_id: 'T1' });
    expect(String((await bench.link.explain(1, 'text')).body)).match(/^T1 · queue/);
    expect(String((await bench.link.explain(1, 'svg')).body)).match(/^<svg/);
    const widest = async (columns?: number): Promise<number> =>
      Math.max(
        ...String((await bench.link.explain(1, 'text', columns)).body)
          .split('\n')
          .map((line) => [...line].length),
      );
    expect(await widest()).within(70, 80);
    expect(await widest(140)).within(100, 140);
  });

  it('has no records of an unknown task, and tells who would wait for one that it is', async () => {
    expect(await bench.link.log({ task: 'T99' })).include({ status: 200, body: '' });
    const page = await bench.link.logPage({ task: 'T99' }, 0);
    expect(String(page.body)).to.include('"records":[]').and.include('"more":false');
    for (const answer of [
      await bench.link.explain(99, 'json'),
      await bench.link.log({ task: 'T99', follow: 'true' }),
      // It is no page: a client that asked for the next one would ask without an end.
      await bench.link.logPage({ task: 'T99' }, 60_000),
    ]) {
      expect(answer).include({ status: 404 });
      expect(String(answer.body)).include('"reason":"unknown_task"');
    }
  });

  it('gives a read an end although the log goes on', async () => {
    bench.grow(2_000);
    const { body } = await bench.link.log({ from: 1, tail: 1_000 });
    const text = Buffer.isBuffer(body) ? String(body) : await collect(body as Readable);
    expect(seqs(text).at(-1)).equal(bench.durable);
  });

  it('tells a follower each record once, over a hundred deaths and resumptions', async () => {
    const seen: number[] = [];
    for (let life = 0; life < 100; life += 1) {
      bench.grow(1 + ((life * 13) % 50));
      const stream = await bench.follow({ from: seen.length + 1 });
      const news = bench.durable - seen.length;
      seen.push(...(await take(stream, 1 + (life % news))));
      expect(stream.destroyed).equal(true);
    }
    const rest = await bench.follow({ from: seen.length + 1 });
    if (seen.length < bench.durable) seen.push(...(await take(rest, bench.durable - seen.length)));
    rest.destroy();
    expect(seen).deep.equal(Array.from({ length: bench.durable }, (_, index) => index + 1));
    await turn();
    await turn();
    expect(bench.waiters.size).equal(0);
  });

  it('wakes a follower that waits, once there is something that matches', async () => {
    const stream = await bench.follow({ from: bench.durable + 1, type: 'CoordinatorStarted' });
    const first = take(stream, 1);
    for (let i = 0; i < 20; i += 1) {
      bench.grow(i < 15 ? 3 : 6);
      await turn();
    }
    const [seq] = await first;
    const types = bench.random.log.records.map((record) => record?.type);
    expect(seq).equal(types.indexOf('CoordinatorStarted', 3) + 1);
  });

  it('follows one task: its history along the chain, then what becomes durable', async () => {
    bench.grow(200);
    const before = bench.durable;
    const stream = await bench.follow({ task: 'T1' });
    const mine = (): number[] =>
      bench.random.log.records.flatMap((record) =>
        record !== undefined && (record.seq === 1 || ('taskId' in record && record.taskId === 1))
          ? [record.seq]
          : [],
      );
    const had = mine().length;
    bench.random.step(0, 1);
    bench.grow(100);
    const all = mine();
    expect(all.length).above(had);
    expect(await take(stream, all.length)).deep.equal(all);
    expect(before).below(bench.durable);
  });

  it('reads nothing ahead for a follower that does not read', async () => {
    bench.grow(5_000);
    const stream = await bench.follow({ from: 1 });
    stream.once('readable', () => {});
    for (let i = 0; i < 50; i += 1) {
      bench.grow(100);
      await turn();
    }
    expect(bench.pages).most(2);
    stream.destroy();
  });

  it('gives all of the log to who asks again while there is more, whatever the limit', async () => {
    bench.grow(300);
    const all = Array.from({ length: bench.durable }, (_, i) => i + 1);
    for (const limit of [1, 7, undefined, 1_000]) {
      const found: number[] = [];
      for (let from = 1, more = true; more; ) {
        const { body } = await bench.link.logPage({ from, limit }, 0);
        const page = JSON.parse(String(body)) as { records: { seq: number }[]; next: number };
        found.push(...page.records.map(({ seq }) => seq));
        ({ next: from, more } = page as typeof page & { more: boolean });
      }
      expect(found, `limit ${limit}`).to.deep.equal(all);
    }
  });

  it('holds back an empty page no longer when its asker hurries, however early', async () => {
    for (const isEarly of [true, false]) {
      const hurry = new AbortController();
      if (isEarly) hurry.abort();
      const page = bench.link.logPage({ from: 100 }, 60_000, hurry.signal);
      await turn();
      hurry.abort();
      const { body } = await page;
      expect(JSON.parse(String(body))).to.deep.equal({ records: [], next: 100, more: false });
    }
    await turn();
    await turn();
    expect(bench.waiters.size).to.equal(0);
  });

  it('answers what it found, and how far it came, to an asker that hurries', async () => {
    for (const isEarly of [true, false]) {
      const hurry = new AbortController();
      if (isEarly) hurry.abort();
      const ask = (fields: LogFields) => bench.link.logPage(fields, 60_000, hurry.signal);
      const pages = [ask({ from: 1 }), ask({ from: 1, type: 'HistoryForgotten' })];
      hurry.abort();
      const [all, none] = (await Promise.all(pages)).map(({ body }) => JSON.parse(String(body)));
      expect(all.records.map(({ seq }: { seq: number }) => seq)).to.deep.equal([1, 2, 3]);
      expect(none).to.deep.equal({ records: [], next: 4, more: false });
    }
  });

  it('leaves no timer behind when a page that may wait is answered earlier', async () => {
    await turn(); // Mocha sets its own timer until here.
    const timers = new Set<number>();
    const hook = createHook({
      init: (id, type) => void (type === 'Timeout' && timers.add(id)),
      destroy: (id) => void timers.delete(id),
    }).enable();
    try {
      await bench.link.logPage({ from: 1 }, 60_000, new AbortController().signal);
      // Node tells of a timer that was cleared in a turn of its own.
      await turn();
      await turn();
    } finally {
      hook.disable();
    }
    expect([...timers]).to.deep.equal([]);
  });

  it('breaks a stream when the reader goes away, and answers questions with trouble', async () => {
    const stream = await bench.follow({ from: bench.durable + 1 });
    const broken = new Promise<Error>((resolve) => stream.once('error', resolve));
    stream.resume();
    await turn();
    bench.link.close();
    expect(await broken).property('code', 'LOG_STREAM_BROKEN');
    expect(await bench.link.log({})).include({ status: 503 });
    expect(await bench.link.explain(1, 'json')).include({ status: 503 });
  });
});

async function collect(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
