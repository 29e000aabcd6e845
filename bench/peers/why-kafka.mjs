// Owns Kafka's part of the experiments. What is printed is what the clients were answered.

import { setTimeout as pause } from 'node:timers/promises';
import { play, SESSION_MS } from './kafka-scene.mjs';

const SLOW_MS = 2_000;

const shown = (partitions) =>
  partitions.length === 0 ? 'nothing' : `partition ${partitions.join(' and ')}`;

const until = async (condition) => {
  for (const end = performance.now() + 30_000; !condition(); await pause(20)) {
    if (performance.now() > end) throw new Error('it did not happen');
  }
};

export const kafkaExperiments = {
  'one-slow-task': () =>
    play({ tasks: 1 }, async (scene) => {
      let done = 0;
      const assigned = await scene.join('mailers', 'tasks', ['c1', 'c2'], async (one) => {
        const { name, consumer, partition, message } = one;
        scene.at(`${name}: ${message.value} begins (offset ${message.offset})`);
        await pause(message.offset === '0' ? SLOW_MS : 10);
        await scene.commit(consumer, 'tasks', partition, message.offset);
        scene.at(`${name}: ${message.value} is done, committed`);
        done += 1;
      });
      for (const [name, partitions] of [...assigned].sort()) {
        scene.tell(`${name}: assigned ${shown(partitions)}`);
      }
      scene.clock();
      await scene.produce('tasks', ['m1', 'm2', 'm3', 'm4']);
      scene.at('producer: m1 m2 m3 m4 → partition 0');
      await until(() => done === 4);
    }),

  'one-task-fails': () =>
    play({ tasks: 1, 'tasks.retry': 1 }, async (scene) => {
      const due = ({ headers }) => Number(headers.due);
      let done = 0;
      await scene.join('mailers', 'tasks', ['c1'], async (one) => {
        const { consumer, message, partition } = one;
        if (message.offset === '0') {
          scene.at(`c1: ${message.value} fails: smtp: connection reset`);
          const headers = { attempt: '2', due: String(Date.now() + SLOW_MS) };
          await scene.produce('tasks.retry', [message.value], headers);
          scene.at(`c1: ${message.value} → tasks.retry, headers attempt 2, due in 2 s`);
        } else {
          scene.at(`c1: ${message.value} is done`);
          done += 1;
        }
        await scene.commit(consumer, 'tasks', partition, message.offset);
        scene.at(`c1: offset ${message.offset} of tasks committed`);
      });
      const retry = async ({ consumer, message, partition, heartbeat }) => {
        scene.at(`r1: ${message.value}, attempt ${message.headers.attempt}: not due, waits`);
        await pause(Math.max(0, due(message) - Date.now()));
        await heartbeat?.();
        await scene.commit(consumer, 'tasks.retry', partition, message.offset);
        scene.at(`r1: ${message.value} is done, offset ${message.offset} of tasks.retry committed`);
        done += 1;
      };
      await scene.join('retriers', 'tasks.retry', ['r1'], retry);
      scene.clock();
      await scene.produce('tasks', ['m1', 'm2']);
      scene.at('producer: m1 m2 → tasks');
      await until(() => done === 2);
    }),

  'lost-claim': () =>
    play({ tasks: 1 }, async (scene) => {
      let [done, first] = [0, undefined];
      await scene.join('mailers', 'tasks', ['c1', 'c2'], async (one) => {
        const { name, consumer, message, partition } = one;
        const stalls = first === undefined;
        first ??= name;
        const as = name === first ? 'c1' : 'c2';
        scene.at(`${as}: ${message.value} begins (offset ${message.offset})`);
        if (stalls) await pause(SESSION_MS * 3);
        const said = await scene.commit(consumer, 'tasks', partition, message.offset).then(
          () => 'committed',
          (error) => `refused: ${error.message}`,
        );
        scene.at(`${as}: ${stalls ? 'wakes up, is done, ' : ''}commits ${message.value} → ${said}`);
        done += 1;
      });
      scene.clock();
      await scene.produce('tasks', ['m1']);
      scene.at('producer: m1 → partition 0');
      await until(() => first !== undefined);
      scene.at(`the group: ${await scene.standing('mailers', 'tasks')}`);
      await until(() => done === 2);
      scene.at(`the group: ${await scene.standing('mailers', 'tasks')}`);
    }),

  'more-workers': () =>
    play({ tasks: 2 }, async (scene) => {
      const assigned = await scene.join('mailers', 'tasks', ['c1', 'c2', 'c3'], async () => {});
      scene.tell('topic tasks has 2 partitions; three consumers join the group:');
      for (const [name, partitions] of [...assigned].sort()) {
        scene.tell(`${name}: assigned ${shown(partitions)}`);
      }
    }),

  'read-again': () =>
    play({ tasks: 1 }, async (scene) => {
      const seen = { mailers: [], audit: [] };
      const reader =
        (group) =>
        async ({ consumer, message, partition }) => {
          await scene.commit(consumer, 'tasks', partition, message.offset);
          seen[group].push(message.value.toString());
        };
      await scene.produce('tasks', ['m1', 'm2', 'm3']);
      for (const group of ['mailers', 'audit']) {
        await scene.join(group, 'tasks', [group], reader(group));
        await until(() => seen[group].length === 3);
        const standing = await scene.standing(group, 'tasks');
        scene.tell(`${group}: has read ${seen[group].join(' ')}, ${standing}`);
      }
    }),
};
