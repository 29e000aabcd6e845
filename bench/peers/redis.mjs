// Owns Redis in its two settings, and what stands on it: Streams with a consumer group by hand, and
// BullMQ.

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { startProcess } from './processes.mjs';

const SETTINGS = {
  always: {
    promise: 'appendfsync always: each step flushed before its answer',
    flushed: { submit: true, lease: true, complete: true },
  },
  everysec: {
    promise: 'appendfsync everysec: up to a second of answers may be lost',
    flushed: { submit: false, lease: false, complete: false },
  },
};

const startRedis = (setting, directory) =>
  startProcess({
    name: 'redis',
    directory,
    command: 'redis-server',
    args: (directory, port) => [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', directory, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', setting, '--daemonize', 'no'],
    ],
  });

const streams = (setting) => ({
  name: `Redis Streams, ${setting}`,
  ...SETTINGS[setting],
  pipelines: true,
  start: (directory) => startRedis(setting, directory),
  async client({ port }, index, payload) {
    const redis = new Redis({ port, host: '127.0.0.1', enableAutoPipelining: false });
    await redis.xgroup('CREATE', 'tasks', 'workers', '0', 'MKSTREAM').catch((error) => {
      if (!String(error.message).startsWith('BUSYGROUP')) throw error;
    });
    const read = ['GROUP', 'workers', `w${index}`, 'COUNT', 1, 'STREAMS', 'tasks', '>'];
    return {
      submit: () => redis.xadd('tasks', '*', 'payload', payload),
      async lease() {
        const answer = await redis.xreadgroup(...read);
        if (answer === null) throw new Error('nothing in the stream');
        return answer[0][1][0][0];
      },
      complete: (id) => redis.multi().xack('tasks', 'workers', id).xdel('tasks', id).exec(),
      close: () => redis.disconnect(),
    };
  },
});

/** Many entries into the same stream, a group of them at a time. */
export async function streamWriter({ port }) {
  const redis = new Redis({ port, host: '127.0.0.1' });
  await redis.xgroup('CREATE', 'tasks', 'workers', '0', 'MKSTREAM');
  return {
    add(payloads) {
      const group = redis.pipeline();
      for (const payload of payloads) group.xadd('tasks', '*', 'payload', payload);
      return group.exec();
    },
    async isRewriting() {
      return !(await redis.info('persistence')).includes('aof_rewrite_in_progress:0');
    },
    close: () => redis.disconnect(),
  };
}

const bull = (setting) => ({
  name: `BullMQ, ${setting}`,
  ...SETTINGS[setting],
  pipelines: true,
  start: () => startRedis(setting),
  async client({ port }, index, payload) {
    const connection = { port, host: '127.0.0.1', maxRetriesPerRequest: null };
    const queue = new Queue('tasks', { connection });
    const worker = new Worker('tasks', null, { connection });
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
    const token = `w${index}`;
    const options = { removeOnComplete: true };
    return {
      submit: () => queue.add('task', payload, options),
      async lease() {
        const held = await worker.getNextJob(token, { block: false });
        if (held === undefined) throw new Error('nothing in the queue');
        return held;
      },
      complete: (held) => held.moveToCompleted('done', token, false),
      submitBatch: (count) =>
        queue.addBulk(
          Array.from({ length: count }, () => ({ name: 'task', data: payload, opts: options })),
        ),
      async close() {
        await worker.close();
        await queue.close();
      },
    };
  },
});

export const redises = [streams('always'), streams('everysec'), bull('always'), bull('everysec')];
