// Owns Redis' part of the experiments: a stream with a consumer group, by its own commands. It is a
// log that notes for each entry who has it, so it stands between Kafka's groups and leases.

import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startProcess } from './processes.mjs';

const IDLE_MS = 1_500;

/** Plays with a stream `tasks` and its group `mailers`; entry ids read as m1, m2 … */
async function play(act) {
  const server = await startProcess({
    name: 'redis',
    command: 'redis-server',
    args: (directory, port) => [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', directory, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', 'always', '--daemonize', 'no'],
    ],
  });
  const redis = new Redis({ port: server.port, host: '127.0.0.1' });
  const lines = [];
  const names = new Map();
  const named = (text) => [...names].reduce((all, [id, name]) => all.replaceAll(id, name), text);
  const scene = {
    names,
    tell: (text) => lines.push(`  ${text}`),
    /** A command as one types it, and what was answered. */
    async run(who, command) {
      const answer = await redis.call(...command.split(' ').map((word) => idOf(names, word)));
      if (command.startsWith('XPENDING')) for (const entry of answer) entry[2] = seconds(entry[2]);
      lines.push(`  ${who}: ${named(command)} → ${named(shown(answer))}`);
    },
    async add(...values) {
      for (const value of values) {
        names.set(await redis.xadd('tasks', '*', 'payload', value), value);
        lines.push(`  client: XADD tasks * payload ${value}`);
      }
    },
  };
  try {
    await redis.xgroup('CREATE', 'tasks', 'mailers', '0', 'MKSTREAM');
    await act(scene);
  } finally {
    redis.disconnect();
    await server.stop();
  }
  return lines;
}

const idOf = (names, word) => [...names].find(([, name]) => name === word)?.[0] ?? word;

/** Idle times differ from run to run: they are shown in seconds. */
const seconds = (ms) => `${(ms / 1_000).toFixed(1)}s`;

const shown = (answer) =>
  Array.isArray(answer) ? `[${answer.map(shown).join(' ')}]` : String(answer);

const read = (name) => `XREADGROUP GROUP mailers ${name} COUNT 1 STREAMS tasks >`;

export const redisExperiments = {
  'one-slow-task': () =>
    play(async ({ add, run, tell }) => {
      await add('m1', 'm2', 'm3');
      await run('c1', read('c1'));
      tell('c1 works for long.');
      for (const entry of ['m2', 'm3']) {
        await run('c2', read('c2'));
        await run('c2', `XACK tasks mailers ${entry}`);
      }
      await run('c1', 'XACK tasks mailers m1');
    }),

  'who-has-it': () =>
    play(async ({ add, run, tell }) => {
      await add('m1');
      await run('c1', read('c1'));
      tell('c1 dies. Who has the entry, for how long, delivered how often?');
      await pause(IDLE_MS);
      await run('anybody', 'XPENDING tasks mailers - + 10');
      await run('c2', `XAUTOCLAIM tasks mailers c2 ${IDLE_MS} 0`);
      await run('anybody', 'XPENDING tasks mailers - + 10');
      await run('c2', 'XACK tasks mailers m1');
      tell('And now: who had it, and why twice?');
      await run('anybody', 'XPENDING tasks mailers - + 10');
      await run('anybody', 'XRANGE tasks - +');
    }),

  'lost-claim': () =>
    play(async ({ add, run, tell }) => {
      await add('m1');
      await run('c1', read('c1'));
      tell('c1 stalls.');
      await pause(IDLE_MS);
      await run('c2', `XAUTOCLAIM tasks mailers c2 ${IDLE_MS} 0`);
      tell('c1 wakes up and acknowledges, although c2 has the entry:');
      await run('c1', 'XACK tasks mailers m1');
      await run('anybody', 'XPENDING tasks mailers - + 10');
      await run('c2', 'XACK tasks mailers m1');
    }),
};
