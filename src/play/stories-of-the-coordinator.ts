// Owns the stories in which the coordinator itself is gone for a while.

import type { Story } from './run-story.ts';

export const coordinatorStories: readonly Story[] = [
  {
    name: 'down-longer-than-the-lease',
    title: 'The coordinator is down for longer than the lease',
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.heartbeat('w1');
      await play.killCoordinator();
      await play.outlast('w1');
      await play.startCoordinator();
      await play.guess('w1 has finished meanwhile and reports complete. What will the answer be?');
      await play.report('w1', 'complete');
      play.tell('The lease ran out while the coordinator was down; its start recorded that.');
      await play.lease('w2');
      await play.report('w2', 'complete');
      return [task];
    },
  },
  {
    name: 'down-shorter-than-the-lease',
    title: 'The coordinator is killed and comes back while the lease is valid',
    knobs: ['--lease-duration-ms', '30000'],
    async play(play) {
      const task = await play.submit();
      await play.lease('w1');
      await play.killCoordinator();
      await play.startCoordinator();
      await play.guess(
        'The process that granted the lease is dead. w1 reports: what is the answer?',
      );
      await play.report('w1', 'complete');
      play.tell('The log decides, not the process: a restart neither ends nor renews a lease.');
      return [task];
    },
  },
];
