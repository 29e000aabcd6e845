// The threads of mailbox.bench.ts. The consumer numbers what it takes: one total order. Each
// producer checks that every message is answered once, and that its numbers ascend as it sent them;
// it enters itself under each number in a table that all share, where a number used twice shows.

import { parentPort, workerData } from 'node:worker_threads';
import { Consumer, type Peer } from '../src/mailbox/consumer.ts';
import type { MailboxEnd } from '../src/mailbox/mailbox.ts';
import { Producer } from '../src/mailbox/producer.ts';

export type ThreadTask =
  | { readonly role: 'consumer'; readonly ends: readonly MailboxEnd[] }
  | {
      readonly role: 'producer';
      readonly end: MailboxEnd;
      readonly id: number;
      readonly count: number;
      /** Messages open at once. */
      readonly window: number;
      readonly messageBytes: number;
      /** By number in the total order: id + 1 of the producer whose message had it. */
      readonly order: SharedArrayBuffer;
    };

export interface ProducerResult {
  /** On the clock that all threads share. */
  readonly startedMs: number;
  readonly endedMs: number;
  /** Round trips in microseconds, when the window is 1. */
  readonly roundTripsUs: readonly number[];
  readonly faults: readonly string[];
}

const sharedMs = () => performance.timeOrigin + performance.now();

function consume(ends: readonly MailboxEnd[]): void {
  const answer = new Uint8Array(16);
  const answerView = new DataView(answer.buffer);
  const sink = {
    take(from: Peer, ticket: number) {
      answerView.setUint32(0, taken);
      taken += 1;
      consumer.reply(from, ticket, answer);
    },
    gone: () => {},
  };
  let taken = 0;
  const consumer = new Consumer(() => {
    consumer.drain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, sink);
    consumer.flushReplies();
  });
  for (const end of ends) consumer.add(end);
}

function produce(task: Extract<ThreadTask, { role: 'producer' }>): void {
  const order = new Uint8Array(task.order);
  const message = new Uint8Array(task.messageBytes);
  const roundTripsUs: number[] = [];
  const faults: string[] = [];
  let [sent, answered, lastNumber, startedMs, sentMs, scheduled] = [0, 0, -1, 0, 0, false];

  const fill = () => {
    scheduled = false;
    sentMs = performance.now();
    while (sent < task.count && producer.openTickets < task.window) {
      if (!producer.offer(sent, 'request', message, sent)) break;
      sent += 1;
    }
  };
  const end = () => {
    const result = { startedMs, endedMs: sharedMs(), roundTripsUs, faults };
    parentPort?.postMessage(result satisfies ProducerResult);
    producer.close();
  };
  const producer = new Producer<number>(task.end, {
    onReply(ticket, reply) {
      if (task.window === 1) roundTripsUs.push((performance.now() - sentMs) * 1_000);
      const number = reply.bytes.readUInt32BE(reply.from);
      if (ticket !== answered) faults.push(`ticket ${ticket} answered, ${answered} was next`);
      if (number <= lastNumber) faults.push(`number ${number} after ${lastNumber}`);
      if (order[number] !== 0) faults.push(`number ${number} twice`);
      order[number] = task.id + 1;
      lastNumber = number;
      answered += 1;
      if (answered === task.count) return end();
      if (scheduled) return;
      scheduled = true;
      setImmediate(fill);
    },
    onDeath: () => {},
  });
  parentPort?.once('message', () => {
    startedMs = sharedMs();
    fill();
  });
  parentPort?.postMessage('ready');
}

const task = workerData as ThreadTask;
if (task.role === 'consumer') consume(task.ends);
else produce(task);
