// A consumer in a thread of its own, for threads.test.ts: gives `answers` messages back as they
// came, leaves the others open, and exits when it has taken `exitAfter`.

import { workerData } from 'node:worker_threads';
import { Consumer } from '../../src/mailbox/consumer.ts';
import { viewOf } from '../../src/mailbox/frame.ts';
import type { MailboxEnd } from '../../src/mailbox/mailbox.ts';

export interface ConsumerTask {
  readonly ends: MailboxEnd[];
  readonly answers: number;
  readonly exitAfter: number;
}

const task = workerData as ConsumerTask;
let taken = 0;
const consumer = new Consumer(() => {
  consumer.drain(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, {
    take(from, ticket, _kind, message) {
      taken += 1;
      if (taken <= task.answers) consumer.reply(from, ticket, viewOf(message));
    },
    gone: () => {},
  });
  consumer.flushReplies();
  if (taken >= task.exitAfter) process.exit();
});
for (const end of task.ends) consumer.add(end);
