// The mailbox with both ends in one thread: what is promised to a producer and to the consumer.
// What only real threads can break is in threads.test.ts.

import { expect } from 'chai';
import { Consumer } from '../../src/mailbox/consumer.ts';
import { viewOf } from '../../src/mailbox/frame.ts';
import { createMailbox, type Mailbox } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';
import { bytesOf, recordingConsumer, textOf, turns, until } from './support.ts';

const MANY = Number.MAX_SAFE_INTEGER;

/** A producer that writes down its replies and its death. */
function recordingProducer(mailbox: Mailbox, name: string, options?: { exempt?: boolean }) {
  const { producer: end, consumer: other } = mailbox.connect(name, options);
  const replies: [number, string][] = [];
  const deaths: number[][] = [];
  const producer = new Producer<number>(end, {
    onReply: (ticket, reply) => replies.push([ticket, textOf(viewOf(reply))]),
    onDeath: (open) => deaths.push([...open]),
  });
  return { producer, other, replies, deaths };
}

describe('mailbox', () => {
  let closers: (() => void)[] = [];
  const closing = <T extends { close(): void }>(thing: T): T => {
    closers.push(() => thing.close());
    return thing;
  };
  afterEach(() => {
    for (const close of closers) close();
    closers = [];
  });
  const connected = (limits = { maxRequests: 64, maxBytes: 100_000 }) => {
    const mailbox = createMailbox(limits);
    const one = recordingProducer(mailbox, 'one');
    closing(one.producer);
    return { mailbox, ...one };
  };

  it('carries a request there and its reply back', async () => {
    const { producer, other, replies } = connected();
    const { consumer, taken } = recordingConsumer((self, from, ticket, message) =>
      self.reply(from, ticket, bytesOf(`re: ${textOf(message)}`)),
    );
    closing(consumer).add(other);
    expect(producer.offer(4_294_967_295, 'request', bytesOf('hello'), 4_294_967_295)).to.equal(
      true,
    );
    await until(() => replies.length === 1, 'the reply is there');
    expect(taken).to.deep.equal([
      { from: 'one', ticket: 4_294_967_295, kind: 'request', text: 'hello' },
    ]);
    expect(replies).to.deep.equal([[4_294_967_295, 're: hello']]);
    expect(producer.openTickets).to.equal(0);
  });

  it('takes up to the limits, says that there may be more, and keeps the order', async () => {
    const { producer, other, mailbox } = connected();
    const consumer = closing(new Consumer(() => {}));
    consumer.add(other);
    for (let ticket = 0; ticket < 5; ticket++)
      producer.offer(ticket, 'request', bytesOf('four'), ticket);
    await turns();
    const tickets: number[] = [];
    const sink = { take: (_: unknown, ticket: number) => tickets.push(ticket), gone: () => {} };
    expect(consumer.drain(2, MANY, sink)).to.equal(true);
    expect(tickets).to.deep.equal([0, 1]);
    expect(mailbox.depth()).to.deep.equal({ requests: 3, bytes: 3 * 16 });
    expect(consumer.drain(MANY, 1, sink)).to.equal(true);
    expect(tickets).to.deep.equal([0, 1, 2]);
    expect(consumer.drain(MANY, MANY, sink)).to.equal(false);
    expect(tickets).to.deep.equal([0, 1, 2, 3, 4]);
    expect(consumer.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('takes what has arrived but was not announced yet', async () => {
    const { producer, other } = connected();
    const tickets: number[] = [];
    const sink = { take: (_: unknown, ticket: number) => tickets.push(ticket), gone: () => {} };
    const consumer = closing(new Consumer(() => {}));
    consumer.add(other);
    producer.offer(1, 'request', bytesOf('a'), 1);
    await turns();
    // A message that is larger than a batch leaves at once, so it is on the port in this turn.
    producer.offer(2, 'request', new Uint8Array(70_000), 2);
    consumer.drain(MANY, MANY, sink);
    expect(tickets).to.deep.equal([1, 2]);
  });

  it('loses nothing of many batches that stood in line, wherever a drain stops', async () => {
    const BATCHES = 3_000;
    const { producer, other } = connected({ maxRequests: BATCHES * 2, maxBytes: 1_000_000 });
    const consumer = closing(new Consumer(() => {}));
    consumer.add(other);
    for (let ticket = 0; ticket < BATCHES; ticket++) {
      producer.offer(ticket, 'request', bytesOf('a'), ticket);
      await turns(1);
    }
    await turns();
    const tickets: number[] = [];
    const sink = { take: (_: unknown, ticket: number) => tickets.push(ticket), gone: () => {} };
    while (consumer.drain(700, MANY, sink));
    expect(tickets).to.deep.equal([...Array(BATCHES).keys()]);
  });

  it('loses nothing when the work on a message ends in another drain', async () => {
    const { producer, other, mailbox } = connected();
    const consumer = closing(new Consumer(() => {}));
    consumer.add(other);
    for (let ticket = 0; ticket < 12; ticket++) {
      producer.offer(ticket, 'request', bytesOf('a'), ticket);
      if (ticket % 4 === 3) await turns();
    }
    const tickets: number[] = [];
    const within: boolean[] = [];
    const sink = {
      take: (_: unknown, ticket: number) => {
        tickets.push(ticket);
        if (ticket % 4 === 3) within.push(consumer.drain(2, MANY, sink));
      },
      gone: () => {},
    };
    while (consumer.drain(5, MANY, sink));
    expect(tickets).to.deep.equal([...Array(12).keys()]);
    expect(within, 'there may be more').to.deep.equal([true, true, true]);
    expect(mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('wakes the consumer once until it drains', async () => {
    const { producer, other } = connected();
    let wakes = 0;
    const consumer = closing(new Consumer(() => (wakes += 1)));
    consumer.add(other);
    for (let ticket = 0; ticket < 3; ticket++) {
      producer.offer(ticket, 'request', bytesOf('a'), ticket);
      await turns();
    }
    expect(wakes).to.equal(1);
    consumer.drain(MANY, MANY, { take: () => {}, gone: () => {} });
    producer.offer(3, 'request', bytesOf('a'), 3);
    await turns();
    expect(wakes).to.equal(2);
  });

  it('refuses when full, sends nothing then, and keeps the last eighth for reports', async () => {
    const { producer, other, mailbox } = connected({ maxRequests: 16, maxBytes: 100_000 });
    let ticket = 0;
    while (producer.offer(ticket, 'request', bytesOf('a'), ticket)) ticket += 1;
    expect(ticket).to.equal(14);
    expect(producer.offer(14, 'report', bytesOf('r'), 14)).to.equal(true);
    expect(producer.offer(15, 'report', bytesOf('r'), 15)).to.equal(true);
    expect(producer.offer(16, 'report', bytesOf('r'), 16)).to.equal(false);
    expect(producer.openTickets).to.equal(16);
    expect(mailbox.refused).to.equal(2);
    const { consumer, taken } = recordingConsumer();
    closing(consumer).add(other);
    await until(() => taken.length === 16, 'all are taken');
    await turns();
    expect(taken.map((message) => message.ticket)).to.deep.equal([...Array(16).keys()]);
    expect(producer.offer(16, 'request', bytesOf('a'), 16)).to.equal(true);
  });

  it('refuses a ticket that is open, and takes it again once it was answered', async () => {
    const { producer, other, replies } = connected();
    const { consumer } = recordingConsumer((self, from, ticket) =>
      self.reply(from, ticket, bytesOf('done')),
    );
    producer.offer(5, 'request', bytesOf('a'), 5);
    expect(() => producer.offer(5, 'request', bytesOf('b'), 5)).to.throw(RangeError, 'ticket 5');
    closing(consumer).add(other);
    await until(() => replies.length === 1, 'the first is answered');
    expect(producer.offer(5, 'request', bytesOf('b'), 5)).to.equal(true);
  });

  it('hands over no reply to a withdrawn ticket, and tells the consumer', async () => {
    const { producer, other, replies, deaths } = connected();
    const { consumer, taken } = recordingConsumer((self, from, ticket) => {
      if (ticket < 2) self.reply(from, ticket, bytesOf('late'));
    });
    producer.offer(1, 'request', bytesOf('a'), 1);
    producer.offer(2, 'request', bytesOf('b'), 2);
    producer.withdraw(1);
    producer.withdraw(1);
    producer.withdraw(77);
    producer.hasten(2);
    producer.hasten(77);
    closing(consumer).add(other);
    await until(() => taken.length === 4, 'all is taken');
    await turns();
    // Only requests and reports have taken room: what is said of them gives none back.
    expect(consumer.depth()).to.deep.equal({ requests: 0, bytes: 0 });
    expect(taken.map(({ kind, ticket }) => `${kind} ${ticket}`)).to.deep.equal([
      'request 1',
      'request 2',
      'withdraw 1',
      'hasten 2',
    ]);
    expect(replies).to.deep.equal([]);
    producer.close();
    await until(() => deaths.length === 1, 'the producer is closed');
    expect(deaths).to.deep.equal([[2]]);
  });

  it('lets an exempt producer pass a full mailbox, with one message open', async () => {
    const { producer, other, mailbox } = connected({ maxRequests: 8, maxBytes: 100_000 });
    while (producer.offer(producer.openTickets, 'report', bytesOf('a'), producer.openTickets));
    const timer = recordingProducer(mailbox, 'timer', { exempt: true });
    closing(timer.producer);
    expect(timer.producer.offer(1, 'request', bytesOf('tick'), 1)).to.equal(true);
    expect(timer.producer.offer(2, 'request', bytesOf('tick'), 2)).to.equal(false);
    expect(mailbox.depth().requests).to.equal(8);
    const { consumer, taken } = recordingConsumer((self, from, ticket) =>
      self.reply(from, ticket, bytesOf('ok')),
    );
    closing(consumer).add(other);
    consumer.add(timer.other);
    await until(() => timer.replies.length === 1 && taken.length === 9, 'the tick is answered');
    expect(mailbox.depth()).to.deep.equal({ requests: 0, bytes: 0 });
    expect(timer.producer.offer(2, 'request', bytesOf('tick'), 2)).to.equal(true);
  });

  it('sends all that was offered before close, then the notice', async () => {
    const { producer, other, deaths } = connected();
    const { consumer, taken } = recordingConsumer();
    closing(consumer).add(other);
    producer.offer(1, 'request', bytesOf('a'), 1);
    producer.offer(2, 'request', bytesOf('b'), 2);
    producer.close();
    expect(producer.offer(3, 'request', bytesOf('c'), 3)).to.equal(false);
    await until(() => taken.length === 3 && deaths.length === 1, 'the end is seen on both sides');
    expect(taken.map(({ kind }) => kind)).to.deep.equal(['request', 'request', 'gone']);
    expect(deaths).to.deep.equal([[1, 2]]);
  });

  it('hands over the replies sent before the consumer closed, then reports the rest', async () => {
    const { producer, other, replies, deaths } = connected();
    const { consumer, taken } = recordingConsumer((self, from, ticket) => {
      if (ticket === 1) self.reply(from, ticket, bytesOf('last'));
    });
    consumer.add(other);
    producer.offer(1, 'request', bytesOf('a'), 1);
    producer.offer(2, 'request', bytesOf('b'), 2);
    await until(() => taken.length === 2, 'both are taken');
    consumer.close();
    await until(() => deaths.length === 1, 'the death is seen');
    expect(replies).to.deep.equal([[1, 'last']]);
    expect(deaths).to.deep.equal([[2]]);
    expect(producer.alive).to.equal(false);
    expect(producer.offer(3, 'request', bytesOf('c'), 3)).to.equal(false);
  });

  it('notices a side that died before the other one listened', async () => {
    const { mailbox, producer, other, deaths } = connected();
    other.port.close();
    await until(() => deaths.length === 1, 'the producer sees it');
    expect(producer.alive).to.equal(false);
    const late = mailbox.connect('late');
    late.producer.port.close();
    await turns();
    const { consumer, taken } = recordingConsumer();
    closing(consumer).add(late.consumer);
    await until(() => taken.length === 1, 'the consumer sees it');
    expect(taken[0]).to.include({ from: 'late', kind: 'gone' });
    const later = mailbox.connect('later');
    later.consumer.port.close();
    await turns();
    const open: (readonly number[])[] = [];
    closing(
      new Producer<number>(later.producer, {
        onReply: () => {},
        onDeath: (tickets) => open.push(tickets),
      }),
    ).offer(1, 'request', bytesOf('a'), 1);
    await until(() => open.length === 1, 'the late producer sees it');
    expect(open).to.deep.equal([[1]]);
  });

  it('gives room back for what was taken although the sink threw', async () => {
    const { producer, other, mailbox } = connected();
    const consumer = closing(new Consumer(() => {}));
    consumer.add(other);
    for (let ticket = 0; ticket < 3; ticket++)
      producer.offer(ticket, 'request', bytesOf('a'), ticket);
    await turns();
    const take = (_: unknown, ticket: number) => {
      if (ticket === 1) throw new Error('broken sink');
    };
    expect(() => consumer.drain(MANY, MANY, { take, gone: () => {} })).to.throw('broken sink');
    expect(mailbox.depth().requests).to.equal(1);
  });
});
