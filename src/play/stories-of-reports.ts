// Owns the stories about tasks that are reported, reported again, killed and submitted twice.

import { LEASE_MS } from './play.ts';
import type { Story } from './run-story.ts';

export const reportStories: readonly Story[] = [
  {
    name: 'completion-answer-lost',
    title: 'A task is completed, and the answer is lost',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      play.tell('w1 reports complete, and its connection breaks before the answer is through.');
      await play.report('w1', 'complete', {}, true);
      await play.guess(
        'w1 does not know whether its report counted, and reports again. The answer?',
      );
      await play.report('w1', 'complete');
      play.tell('The second report is refused, with the answer to the first one: COMMITTED.');
      return [task];
    },
  },
  {
    name: 'failed-after-its-effect',
    title: 'An attempt fails after it had its effect',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      play.tell('w1 sends the mail. Then its database says no, and it reports fail.');
      await play.report('w1', 'fail', { reason: 'could not note that the mail was sent' });
      await play.guess('w2 gets the task. How many mails does a@example.org get?');
      await play.lease('w2', { wait_ms: 5_000 });
      await play.report('w2', 'complete');
      play.tell('Two. The log knows nothing of mails: the worker itself must look first.');
      return [task];
    },
  },
  {
    name: 'killed-then-redriven',
    title: 'A task is killed while it runs, and redriven',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.change('kill', task, { reason: 'wrong template' });
      await play.guess('w1 does not know that, and reports complete. What will the answer be?');
      await play.report('w1', 'complete');
      const again = await play.change('redrive', task);
      await play.lease('w2');
      await play.report('w2', 'complete');
      return [task, again];
    },
  },
  {
    name: 'submitted-twice',
    title: 'A client submits again, because it got no answer',
    async play(play) {
      play.tell('Without a request id:');
      const first = await play.submit();
      await play.guess('The client sends exactly the same again. How many tasks are there?');
      const second = await play.submit();
      play.tell('And with a request id:');
      const third = await play.submit({ request_id: 'order-17' });
      await play.submit({ request_id: 'order-17' });
      return [first, second, third];
    },
  },
  {
    name: 'two-workers-at-the-boundary',
    title: 'One worker finishes in the moment in which another gets the task',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      play.tell('w2 waits for a task. w1 finishes just as its lease runs out.');
      const waiting = play.lease('w2', { wait_ms: 10_000 });
      await play.guess('Can both be answered COMMITTED? Can neither of them?');
      await play.meanwhile(waiting, () => play.outlast('w1'));
      await play.report('w1', 'complete');
      await play.report('w2', 'complete');
      play.tell(
        `The log has one order: at ${LEASE_MS} ms the lease is over, so one report counts.`,
      );
      return [task];
    },
  },
];
