// Owns PostgreSQL with its default settings (only more connections), and what stands on it: pg-boss
// and graphile-worker, each alone and in its tuned batches.

import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { chownSync } from 'node:fs';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { postgresBin } from './packages.mjs';
import { startProcess } from './processes.mjs';

const CONNECTIONS = 200;
const POOL = 64;
const FLUSHED = 'each commit flushed before its answer (fsync and synchronous_commit are on)';

/** PostgreSQL refuses to run as root: it gets the user that its package made. */
function postgresUser() {
  if (process.getuid() !== 0) return {};
  const number = (flag) => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: number('-u'), gid: number('-g') };
}

function startPostgres() {
  const user = postgresUser();
  const bin = postgresBin();
  return startProcess({
    name: 'postgres',
    command: `${bin}/postgres`,
    user,
    signal: 'SIGINT',
    prepare(directory) {
      if (user.uid !== undefined) chownSync(directory, user.uid, user.gid);
      const options = ['-A', 'trust', '-U', 'postgres', '--no-locale', '-E', 'UTF8'];
      execFileSync(`${bin}/initdb`, ['-D', `${directory}/data`, ...options], {
        ...user,
        stdio: 'ignore',
        cwd: directory,
      });
    },
    args: (directory, port) => [
      ...['-D', `${directory}/data`, '-k', directory, '-p', String(port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', `max_connections=${CONNECTIONS}`],
    ],
  });
}

const urlOf = ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`;

/** The server's port answers before the server does. */
async function ready(server) {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString: urlOf(server) });
    try {
      await client.connect();
      await client.end();
      return server;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

export const pgBoss = {
  name: 'pg-boss',
  promise: FLUSHED,
  flushed: { submit: true, lease: true, complete: true },
  pipelines: false,
  async start() {
    const server = await ready(await startPostgres());
    const boss = new PgBoss({ connectionString: urlOf(server), max: POOL, supervise: false });
    boss.on('error', (error) => console.error(`pg-boss: ${error.message}`));
    await boss.start();
    await boss.createQueue('tasks');
    return {
      ...server,
      boss,
      async stop() {
        await boss.stop({ graceful: false });
        await server.stop();
      },
    };
  },
  client: ({ boss }, _, payload) => ({
    submit: () => boss.send('tasks', { payload }),
    async lease() {
      // Rows that another fetch has locked are passed over: an empty answer means try again.
      for (;;) {
        const [held] = await boss.fetch('tasks');
        if (held !== undefined) return held.id;
      }
    },
    complete: (id) => boss.complete('tasks', id),
    submitBatch: (count) =>
      boss.insert(Array.from({ length: count }, () => ({ name: 'tasks', data: { payload } }))),
    async workBatch(count) {
      const held = await boss.fetch('tasks', { batchSize: count });
      if (held.length !== count) throw new Error(`${held.length} of ${count} fetched`);
      await boss.complete(
        'tasks',
        held.map(({ id }) => id),
      );
    },
    close: () => {},
  }),
};

export const graphileWorker = {
  name: 'graphile-worker',
  promise: FLUSHED,
  // Its workers take a task as soon as it is there, and flushes of both sides join: the steps
  // cannot be told apart from outside, so both are counted as one.
  flushed: { task: true },
  pipelines: false,
  async start() {
    const server = await ready(await startPostgres());
    const pool = new pg.Pool({ connectionString: urlOf(server), max: POOL });
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    const logger = new Logger(() => () => {});
    const utils = await makeWorkerUtils({ pgPool: pool, logger });
    await utils.migrate();
    return {
      ...server,
      pool,
      utils,
      logger,
      async stop() {
        await utils.release();
        await pool.end();
        await server.stop();
      },
    };
  },
  /** Its workers take by themselves: a client adds and waits until what it added was worked off. */
  async together({ pool, logger }, concurrency, tuned = {}) {
    const events = new EventEmitter();
    const [done, waiting] = [new Set(), new Map()];
    let count = 0;
    // Its connections are made and its schema is looked at before it fetches for the first time.
    const fetching = once(events, 'localQueue:setMode').then(() => performance.now());
    events.on('job:complete', ({ job: { id } }) => {
      count += 1;
      const settle = waiting.get(id);
      if (settle === undefined) done.add(id);
      else settle();
      waiting.delete(id);
    });
    const runner = await run({
      pgPool: pool,
      logger,
      events,
      concurrency,
      noHandleSignals: true,
      taskList: { task: () => {} },
      ...tuned,
    });
    return {
      worked: () => count,
      /** When it first fetched tasks; for a runner with a local queue. */
      began: () => fetching,
      until: (id) =>
        done.delete(id) ? undefined : new Promise((resolve) => waiting.set(id, resolve)),
      stop: () => runner.stop(),
    };
  },
  client: ({ utils }, _, payload, together) => ({
    submit: async () => (await utils.addJob('task', { payload })).id,
    work: (id) => together.until(id),
    async task() {
      await together.until(await this.submit());
    },
    submitBatch: (count) =>
      utils.addJobs(
        Array.from({ length: count }, () => ({ identifier: 'task', payload: { payload } })),
      ),
    close: () => {},
  }),
};
