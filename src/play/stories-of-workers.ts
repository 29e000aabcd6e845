// Owns the stories in which a worker dies, freezes, or is cut off.

import { LEASE_MS } from './play.ts';
import type { Story } from './run-story.ts';

export const workerStories: readonly Story[] = [
  {
    name: 'worker-killed',
    title: 'A worker is killed in the middle of a task',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.heartbeat('w1');
      play.signal('w1', 'SIGKILL');
      play.tell('Nobody tells the coordinator. It waits for a heartbeat that does not come.');
      await play.guess('w2 asks at once, and again when the lease has run out. What does it get?');
      await play.lease('w2');
      await play.outlast('w1');
      await play.lease('w2', { wait_ms: 5_000 });
      await play.report('w2', 'complete');
      return [task];
    },
  },
  {
    name: 'worker-frozen-and-woken',
    title: 'A worker is frozen for longer than its lease, and wakes up',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.heartbeat('w1');
      play.signal('w1', 'SIGSTOP');
      play.tell('w1 stands still and does not notice it. When it wakes, its clock has jumped.');
      await play.outlast('w1');
      await play.lease('w2', { wait_ms: 5_000 });
      await play.guess('w1 wakes up and reports complete. What will the answer be?');
      await play.meanwhile(play.report('w1', 'complete'), async () => {
        play.signal('w1', 'SIGCONT');
      });
      await play.report('w2', 'complete');
      return [task];
    },
  },
  {
    name: 'grant-nobody-received',
    title: 'A task is granted, and the answer is lost',
    async play(play) {
      const task = await play.submit();
      play.tell('w1 asks for a task, and its connection breaks before the answer is through.');
      await play.lease('w1', {}, true);
      await play.guess('w2 asks now. Does it get the task, or none?');
      await play.lease('w2');
      play.tell('The grant is in the log, so the lease is valid although no worker knows of it.');
      await play.lease('w2', { wait_ms: 10_000 });
      await play.report('w2', 'complete');
      return [task];
    },
  },
  {
    name: 'heartbeats-cut-off',
    title: 'A worker works on, but its heartbeats do not arrive',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      for (let i = 0; i < 2; i += 1) {
        await play.wait(LEASE_MS / 3);
        await play.heartbeat('w1');
      }
      play.tell('The network between w1 and the coordinator is cut. w1 goes on working.');
      await play.lease('w2', { wait_ms: 10_000 });
      await play.guess('The network is back, and w1 reports that it failed. Does that count?');
      await play.report('w1', 'fail', { reason: 'smtp: connection reset' });
      await play.report('w2', 'complete');
      return [task];
    },
  },
  {
    name: 'window-reached',
    title: 'A worker heartbeats, and the task is taken from it all the same',
    knobs: ['--execution-window-ms', String(2 * LEASE_MS)],
    async play(play) {
      const task = await play.submit();
      play.tell(`The execution window is ${2 * LEASE_MS} ms, twice the lease. w1 hangs, but its`);
      play.tell('heartbeats come from another thread and go on.');
      await play.lease('w1');
      await play.guess('w1 heartbeats steadily. How long does it keep the task?');
      for (let i = 0; i < 5; i += 1) {
        await play.wait(LEASE_MS / 3);
        await play.heartbeat('w1');
      }
      await play.lease('w2', { wait_ms: 10_000 });
      await play.heartbeat('w1');
      await play.report('w2', 'complete');
      return [task];
    },
  },
];
