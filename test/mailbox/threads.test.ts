// The mailbox between real threads: order, nothing lost or doubled, bounds under contention, and
// the death of either side.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Consumer, type Peer } from '../../src/mailbox/consumer.ts';
import { viewOf } from '../../src/mailbox/frame.ts';
import { createMailbox, type Mailbox } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import type { ConsumerTask } from './consumer-thread.ts';
import type { ProducerStory, ProducerTask } from './producer-thread.ts';
import { until } from './support.ts';

const MANY = Number.MAX_SAFE_INTEGER;

// dist holds .js, an unbuilt run .ts: a thread's file has the ending of this one.
const sibling = (stem: string) =>
  new URL(`./${stem}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

describe('mailbox between threads', () => {
  const workers: Worker[] = [];
  const closers: { close(): void }[] = [];
  afterEach(async () => {
    for (const thing of closers.splice(0)) thing.close();
    await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  });

  const startProducer = (mailbox: Mailbox, name: string, task: Partial<ProducerTask>) => {
    const { producer: end, consumer } = mailbox.connect(name);
    const whole = { end, count: 1_000, burst: 0, exitAtOnce: false, ...task };
    const worker = new Worker(sibling('producer-thread'), {
      workerData: whole,
      transferList: [end.port],
    });
    workers.push(worker);
    const story = once(worker, 'message') as Promise<[ProducerStory]>;
    return { worker, consumer, story };
  };

  /** Answers all, and checks for each message that it is the next of its producer. */
  const orderKeepingConsumer = (limitMessages = MANY) => {
    const nextOf = new Map<Peer, number>();
    const state = { taken: 0, outOfOrder: 0, deepest: 0, gone: 0 };
    const drain = () => {
      state.deepest = Math.max(state.deepest, consumer.depth().requests);
      const more = consumer.drain(limitMessages, MANY, {
        take(from, ticket, _kind, message) {
          const number = message.bytes.readUInt32BE(message.from);
          const expected = nextOf.get(from) ?? 0;
          if (number !== expected || ticket !== number) state.outOfOrder += 1;
          nextOf.set(from, expected + 1);
          state.taken += 1;
          consumer.reply(from, ticket, viewOf(message));
        },
        gone: () => {
          state.gone += 1;
        },
      });
      consumer.flushReplies();
      if (more) setImmediate(drain);
    };
    const consumer = new Consumer(drain);
    closers.push(consumer);
    return { consumer, state };
  };

  it('keeps each of 4 producers in order, loses and doubles nothing, holds the bound', async () => {
    const mailbox = createMailbox({ maxRequests: 256, maxBytes: 1_000_000 });
    const { consumer, state } = orderKeepingConsumer(50);
    const bursts = [0, 1, 7, 500];
    const started = bursts.map((burst, index) =>
      startProducer(mailbox, `p${index}`, { burst, count: 5_000 }),
    );
    await until(() => mailbox.refused > 0, 'the mailbox is full');
    for (const { consumer: end } of started) consumer.add(end);
    const stories = await Promise.all(started.map(async ({ story }) => (await story)[0]));
    for (const story of stories) {
      expect(story).to.include({ answered: 5_000, wrong: 0, lostAtDeath: 0 });
    }
    expect(state).to.include({ taken: 20_000, outOfOrder: 0 });
    // Requests may fill seven eighths; an admission under way may be seen before it is taken back.
    expect(state.deepest).to.be.within(1, 224 + 4);
    expect(stories.reduce((sum, story) => sum + story.refused, 0)).to.be.greaterThan(0);
    await until(() => state.gone === 4, 'all producers are seen to be gone');
    expect(mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('takes a deep burst in one go', async () => {
    const mailbox = createMailbox({ maxRequests: 2 ** 20, maxBytes: 2 ** 28 });
    const { worker, consumer: end } = startProducer(mailbox, 'deep', { count: 100_000 });
    const { consumer, state } = orderKeepingConsumer();
    await until(() => mailbox.depth().requests === 100_000, 'all of the burst is in the mailbox');
    expect(worker.threadId).to.be.greaterThan(0);
    consumer.add(end);
    await until(() => state.taken === 100_000, 'all is taken');
    expect(state.outOfOrder).to.equal(0);
    expect(mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('gives back the room of messages that died in their thread before they left it', async () => {
    const mailbox = createMailbox({ maxRequests: 64, maxBytes: 1_000_000 });
    const { worker, consumer: end } = startProducer(mailbox, 'short', {
      count: 40,
      exitAtOnce: true,
    });
    await once(worker, 'exit');
    expect(mailbox.depth().requests).to.equal(40);
    const { consumer, state } = orderKeepingConsumer();
    consumer.add(end);
    await until(() => state.gone === 1, 'the producer is seen to be gone');
    expect(state.taken).to.equal(0);
    expect(mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('notices a producer that is terminated, after its last message', async () => {
    const mailbox = createMailbox({ maxRequests: 1_024, maxBytes: 1_000_000 });
    const { worker, consumer: end } = startProducer(mailbox, 'cut', { count: 10, burst: 10 });
    await until(() => mailbox.depth().requests === 10, 'all is offered');
    const order: string[] = [];
    const consumer = new Consumer(() => {
      consumer.drain(MANY, MANY, {
        take: (_from, ticket) => order.push(`take ${ticket}`),
        gone: (from) => order.push(`gone ${from.name} ${from.alive}`),
      });
    });
    closers.push(consumer);
    const peer = consumer.add(end);
    await until(() => order.length === 10, 'all is taken');
    await worker.terminate();
    await until(() => order.length === 11, 'the death is noticed');
    expect(order.at(-1)).to.equal('gone cut false');
    consumer.reply(peer, 3, new Uint8Array(4));
    consumer.flushReplies();
  });

  it('reports every open ticket when the consumer dies, after the replies it sent', async () => {
    const mailbox = createMailbox({ maxRequests: 4_096, maxBytes: 1_000_000 });
    const started = [0, 1].map((index) =>
      startProducer(mailbox, `p${index}`, { burst: 10, count: 1_000 }),
    );
    const ends = started.map(({ consumer }) => consumer);
    const task: ConsumerTask = { ends, answers: 500, exitAfter: 600 };
    const worker = new Worker(sibling('consumer-thread'), {
      workerData: task,
      transferList: ends.map(({ port }) => port),
    });
    workers.push(worker);
    const stories = await Promise.all(started.map(async ({ story }) => (await story)[0]));
    expect(stories.reduce((sum, { answered }) => sum + answered, 0)).to.equal(500);
    expect(stories.reduce((sum, { lostAtDeath }) => sum + lostAtDeath, 0)).to.be.at.least(100);
    expect(stories.map(({ wrong }) => wrong)).to.deep.equal([0, 0]);
  });

  it('carries a message of 1 MiB between small ones, byte for byte', async () => {
    const mailbox = createMailbox({ maxRequests: 64, maxBytes: 2 ** 24 });
    const { producer: end, consumer: other } = mailbox.connect('large');
    const task: ConsumerTask = { ends: [other], answers: 3, exitAfter: 4 };
    workers.push(
      new Worker(sibling('consumer-thread'), { workerData: task, transferList: [other.port] }),
    );
    const replies: Uint8Array[] = [];
    const producer = new Producer<number>(end, {
      onReply: (_ticket, reply) => replies.push(viewOf(reply)),
      onDeath: () => {},
    });
    closers.push(producer);
    const large = Uint8Array.from({ length: 2 ** 20 }, (_, index) => (index * 31) % 251);
    const messages = [Uint8Array.of(1), large, Uint8Array.of(3)];
    messages.forEach((message, ticket) => producer.offer(ticket, 'request', message, ticket));
    await until(() => replies.length === 3, 'all came back');
    replies.forEach((reply, index) =>
      expect(Buffer.compare(reply, messages[index] as Uint8Array), `message ${index}`).to.equal(0),
    );
  });
});
