// Owns Redis in its two settings, and what stands on it: Streams with a consumer group by hand, and
// BullMQ.

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { startProcess } from './processes.mjs';
import { command, RespLink } from './resp.mjs';

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

/** The same by a client that does no more than it must: what is measured is Redis, not a client. */
const rawStreams = (setting) => ({
  ...streams(setting),
  name: `Redis Streams, ${setting}, raw client`,
  open: true,
  async client({ port }, index, payload) {
    const link = await RespLink.to(port);
    const group = command('XGROUP', 'CREATE', 'tasks', 'workers', '0', 'MKSTREAM');
    await link.send(group).catch((error) => {
      if (!error.message.includes('BUSYGROUP')) throw error;
    });
    const add = command('XADD', 'tasks', '*', 'payload', payload);
    const where = ['GROUP', 'workers', `w${index}`, 'COUNT', 1, 'STREAMS', 'tasks', '>'];
    const read = command('XREADGROUP', ...where);
    const [begin, end] = [command('MULTI'), command('EXEC')];
    return {
      submit: () => link.send(add),
      async lease() {
        const answer = await link.send(read);
        if (answer === null) throw new Error('nothing in the stream');
        return answer[0][1][0][0];
      },
      async complete(id) {
        link.send(begin);
        link.send(command('XACK', 'tasks', 'workers', id));
        link.send(command('XDEL', 'tasks', id));
        const [acked, deleted] = await link.send(end);
        if (acked !== 1 || deleted !== 1) throw new Error(`${id} was not in the stream`);
      },
      close: () => link.close(),
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

export const redises = [
  rawStreams('always'),
  streams('always'),
  streams('everysec'),
  bull('always'),
  bull('everysec'),
];
