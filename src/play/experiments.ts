// Owns the experiments of docs/WHY-NOT-KAFKA.md as leasehold plays them: stories about the work
// that a log of messages leaves to its readers. bench/peers plays the other side's part.

import type { Play } from './play.ts';
import type { Story } from './run-story.ts';

/** What a worker writes to outside, guarded: it keeps the greatest token that it has seen. */
class Store {
  #seen = 0;

  write(worker: string, token: number): string {
    if (token < this.#seen) return `${worker} writes with token ${token} → refused`;
    this.#seen = token;
    return `${worker} writes with token ${token} → kept`;
  }
}

/** Where no lease is meant to run out. */
const LONG = ['--lease-duration-ms', '30000'];

async function submitMany(play: Play, count: number, fields = {}): Promise<string[]> {
  const tasks: string[] = [];
  for (let i = 0; i < count; i += 1) tasks.push(await play.submit(fields));
  return tasks;
}

export const EXPERIMENTS: readonly Story[] = [
  {
    name: 'one-slow-task',
    title: 'One slow task, and others behind it',
    knobs: LONG,
    async play(play) {
      await submitMany(play, 4);
      await play.lease('w1');
      play.tell('w1 works on it for a long time, and sends heartbeats.');
      await play.guess('w2 asks for work. What does it get, and when?');
      for (let i = 0; i < 3; i += 1) {
        await play.lease('w2');
        await play.report('w2', 'complete');
        await play.heartbeat('w1');
      }
      await play.report('w1', 'complete');
      return [];
    },
  },
  {
    name: 'one-task-fails',
    title: 'One task fails, and is to be tried again later',
    knobs: LONG,
    async play(play) {
      const [first = ''] = await submitMany(play, 2, {
        retry_policy: { max_retries: 1, backoff_ms: 2_000 },
      });
      await play.lease('w1');
      await play.report('w1', 'fail', { reason: 'smtp: connection reset' });
      await play.guess(
        'w1 asks again at once. Which task does it get? When can it get the first one?',
      );
      await play.lease('w1');
      await play.report('w1', 'complete');
      await play.lease('w1');
      await play.lease('w1', { wait_ms: 10_000 });
      await play.report('w1', 'fail', { reason: 'smtp: no such mailbox' });
      play.tell('Its retries are used up. Somebody mends the address and redrives the task.');
      await play.change('redrive', first);
      await play.lease('w1');
      await play.report('w1', 'complete');
      return [first];
    },
  },
  {
    name: 'who-has-it',
    title: 'Who has it now, and why did it run twice?',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.look(task);
      play.signal('w1', 'SIGKILL');
      await play.guess('w1 is dead. What does the coordinator say of the task at this moment?');
      await play.look(task);
      await play.outlast('w1');
      await play.lease('w2', { wait_ms: 5_000 });
      await play.look(task);
      await play.report('w2', 'complete');
      await play.look(task);
      return [task];
    },
  },
  {
    name: 'lost-claim',
    title: 'A worker that has lost its claim comes back with a result',
    async play(play) {
      const store = new Store();
      await play.submit();
      await play.lease('w1');
      play.signal('w1', 'SIGSTOP');
      await play.outlast('w1');
      await play.lease('w2');
      play.tell(store.write('w2', play.token('w2')));
      play.signal('w1', 'SIGCONT');
      await play.guess('w1 wakes up and believes that it is done. Who stops it, and where?');
      play.tell(store.write('w1', play.token('w1')));
      await play.report('w1', 'complete');
      await play.report('w2', 'complete');
      return [];
    },
  },
  {
    name: 'more-workers',
    title: 'More workers than anybody planned for',
    knobs: LONG,
    async play(play) {
      await submitMany(play, 5);
      const workers = ['w1', 'w2', 'w3', 'w4', 'w5'];
      await play.guess('Five workers come, which nobody has declared. How many get a task?');
      for (const worker of workers) await play.lease(worker);
      await play.lease('w6');
      for (const worker of workers) await play.report(worker, 'complete');
      return [];
    },
  },
  {
    name: 'read-again',
    title: 'Somebody else wants to read all of it again',
    knobs: LONG,
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.report('w1', 'complete');
      await play.guess('An audit wants every task of the last week, too. What does it get?');
      await play.lease('audit');
      await play.change('redrive', task);
      play.tell('A task is done once, for everybody. A second reader needs a task of its own:');
      await play.submit({ queue: 'audit' });
      await play.lease('audit', { queues: ['audit'] });
      await play.report('audit', 'complete');
      return [];
    },
  },
];
