// A producer in a thread of its own, for threads.test.ts: sends numbered messages, checks that each
// is answered once and with its own number, and says at the end what it saw.

import { parentPort, workerData } from 'node:worker_threads';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';
import { Producer } from '../../src/mailbox/producer.ts';

export interface ProducerTask {
  readonly end: MailboxEnd;
  readonly count: number;
  /** Messages offered in one turn; 0: as many as are admitted. */
  readonly burst: number;
  /** Exit the thread right after the last offer, before the turn is over. */
  readonly exitAtOnce: boolean;
}

export interface ProducerStory {
  readonly answered: number;
  readonly wrong: number;
  readonly refused: number;
  readonly lostAtDeath: number;
}

const task = workerData as ProducerTask;
const answered = new Uint8Array(task.count);
const story = { answered: 0, wrong: 0, refused: 0, lostAtDeath: 0 };
let next = 0;

const producer = new Producer<number>(task.end, {
  onReply(ticket, reply) {
    const number = reply.bytes.readUInt32BE(reply.from);
    if (number !== ticket || reply.to - reply.from !== 20 || answered[ticket] === 1)
      story.wrong += 1;
    answered[ticket] = 1;
    story.answered += 1;
    if (story.answered === task.count) tell();
  },
  onDeath(open) {
    story.lostAtDeath = open.length;
    tell();
  },
});

function tell(): void {
  parentPort?.postMessage(story satisfies ProducerStory);
  producer.close();
}

function sendBurst(): void {
  const message = new Uint8Array(20);
  for (let sent = 0; next < task.count && (task.burst === 0 || sent < task.burst); sent++) {
    new DataView(message.buffer).setUint32(0, next);
    if (!producer.offer(next, 'request', message, next)) {
      story.refused += 1;
      break;
    }
    next += 1;
  }
  if (next === task.count && task.exitAtOnce) process.exit();
  if (next < task.count && producer.alive) setImmediate(sendBurst);
}
sendBurst();
