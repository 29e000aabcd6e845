// Follows the log of the real executable while clients work: a follower that dies and resumes, and
// a server that is killed, must leave no gap and no second copy; counters are equal over a restart.

import http from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { samplesOf, valueOf } from '../metrics/exposition.ts';
import type { Fields } from '../support/server.ts';
import { isPlayed, sized } from '../support/tier.ts';
import { Load } from './load.ts';
import { Stage } from './support.ts';

/** Deaths of the follower in each life of the server. */
const DEATHS = sized(50, 8);
/** A server that says nothing for so long is stuck: on a busy machine it is silent for seconds. */
const SILENCE_MS = 60_000;
/** Of the server, while somebody follows its log. */
const LIVES = sized(2, 1);
const WAYS = ['of a queue or a task', 'does not read', 'told alike'];

/** One life of a follower: reads until it has `lines`, or its connection breaks. */
function follow(stage: Stage, from: number, lines: number, filter = ''): Promise<number[]> {
  const path = `/v1/log?follow=true&from=${from}${filter}`;
  return new Promise((resolve) => {
    const seen: number[] = [];
    const request = http.get(
      { host: '127.0.0.1', port: stage.port, path, agent: false },
      (response) => {
        response.on('error', () => {});
        const input = createInterface({ input: response });
        input.on('line', (line) => {
          const seq = seqOf(line);
          if (seen.length < lines && seq !== undefined) seen.push(seq);
          if (seen.length === lines) request.destroy();
        });
        input.on('error', () => {});
        response.on('close', () => resolve(seen));
      },
    );
    request.on('error', () => resolve(seen));
    request.setTimeout(SILENCE_MS, () => request.destroy());
  });
}

/** A line that a broken connection cut off is no line: it is asked for again. */
function seqOf(line: string): number | undefined {
  try {
    return (JSON.parse(line) as { seq: number }).seq;
  } catch {
    return undefined;
  }
}

const countersOf = async (stage: Stage): Promise<Record<string, number>> => {
  const { text } = await stage.call('GET', '/metrics');
  const ours = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?leasehold_/.test(line));
  const samples = samplesOf(ours.join('\n'));
  const names = ['lease_expirations', 'duplicate_executions', 'late_reports', 'retries'];
  return Object.fromEntries([
    ...names.map((name) => [name, valueOf(samples, `leasehold_${name}_total`)]),
    ['leases_active', valueOf(samples, 'leasehold_leases_active')],
    ...samples
      .filter(({ name }) => name === 'leasehold_tasks')
      .map(({ labels, value }) => [`${labels['queue']} ${labels['state']}`, value]),
  ]);
};

/** A follower with a filter in so many lives, of one to four lines each. */
async function pieces(stage: Stage, filter: string, lives: number): Promise<number[]> {
  const seen: number[] = [];
  for (let life = 0; life < lives; life += 1) {
    const next = (seen.at(-1) ?? 0) + 1;
    seen.push(...(await follow(stage, next, 1 + (life % 4), filter)));
  }
  return seen;
}

const taskOf = ({ task_id, seq }: Fields): string => String(task_id ?? `T${seq}`);

/** The one task of a queue that is not delayed is leased, extended and given back so often. */
async function passAround(stage: Stage, queue: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await stage.submit({ queue, delay_ms: 3_600_000 });
    const asked = { worker_id: 'w', queues: [queue], wait_ms: 30_000 };
    const { body } = await stage.call('POST', '/v1/leases', asked);
    const { task_id, lease_id } = (body['leases'] as Fields[])[0] as Fields;
    const route = `/v1/leases/${lease_id}`;
    await stage.call('POST', `${route}/heartbeat`, { task_id });
    const { status } = await stage.call('POST', `${route}/fail`, {
      task_id,
      reason: 'next',
      kind: 'released',
    });
    expect(status).equal(200);
  }
}

describe('a follower of the log', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('sees each record once, over its own deaths and the server’s', async () => {
    const seen: number[] = [];
    for (let life = 1; life <= LIVES; life += 1) {
      const server = await stage.serve(['--segment-bytes', '1048576']).ready();
      const load = new Load(stage, 4);
      for (let death = 0; death < DEATHS; death += 1) {
        seen.push(...(await follow(stage, seen.length + 1, 1 + ((death * 7) % 23))));
      }
      // The last one of this life is in the middle of reading when the server dies.
      const [caught] = await Promise.all([
        follow(stage, seen.length + 1, Number.MAX_SAFE_INTEGER),
        pause(300).then(() => server.kill('SIGKILL')),
      ]);
      seen.push(...caught);
      await server.ended;
      await load.stop();
    }
    await stage.serve().ready();
    const all = await stage.records();
    seen.push(...(await follow(stage, seen.length + 1, all.length - seen.length)));
    expect(seen).deep.equal(all.map(({ seq }) => seq));
    expect(seen.length).above(DEATHS * 10);
  });

  if (isPlayed('of a queue or a task', WAYS)) {
    it('of a queue, or of a task, misses nothing of it either', async () => {
      for (let life = 1; life <= LIVES; life += 1) {
        const server = await stage.serve(['--backoff-ms', '0']).ready();
        const queue = `mail-${life}`;
        const task = String((await stage.submit({ queue })).body['task_id']);
        const load = new Load(stage, 3);
        const [ofQueue, ofTask] = await Promise.all([
          pieces(stage, `&queue=${queue}`, 12),
          pieces(stage, `&task=${task}`, 10),
          passAround(stage, queue, 16),
        ]);
        await load.stop();
        server.kill('SIGKILL');
        await server.ended;
        await stage.serve().ready();
        const all = await stage.records();
        const tasks = new Set(all.filter((one) => one['queue'] === queue).map(taskOf));
        const about = (wanted: ReadonlySet<string>): unknown[] =>
          all.filter((one) => wanted.has(taskOf(one))).map(({ seq }) => seq);
        expect([ofQueue.length, ofTask.length]).deep.equal([30, 23]);
        expect(ofQueue).deep.equal(about(tasks).slice(0, 30));
        expect(ofTask).deep.equal(about(new Set([task])).slice(0, 23));
        await stage.stopAll();
      }
    });
  }

  if (isPlayed('does not read', WAYS)) {
    it('costs a server nothing when it does not read', async () => {
      await stage.serve().ready();
      const slow = http.get({
        host: '127.0.0.1',
        port: stage.port,
        path: '/v1/log?follow=true',
        agent: false,
      });
      slow.on('error', () => {});
      slow.on('response', (response) => response.pause());
      const payload = 'x'.repeat(100_000);
      for (let i = 0; i < 200; i += 1) {
        const { status } = await stage.submit({ payload });
        expect(status).equal(201);
      }
      const { text } = await stage.call('GET', '/metrics');
      slow.destroy();
      const resident = /^process_resident_memory_bytes (\d+)/m.exec(text)?.[1];
      expect(Number(resident)).below(600 * 1024 * 1024);
      const lags = samplesOf(text).filter(
        ({ name }) => name === 'leasehold_event_loop_lag_seconds',
      );
      const actors = new Set(lags.map(({ labels }) => labels['actor']));
      expect([...actors], 'each thread tells its delay').members([
        ...['coordinator', 'http', 'reader', 'socket', 'timer'],
      ]);
    });
  }
});

describe('what the log tells', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  if (isPlayed('told alike', WAYS)) {
    it('is told alike before and after a kill in the middle of the story', async () => {
      // Long enough for a busy machine to report in time.
      const knobs = ['--lease-duration-ms', '4000', '--backoff-ms', '0'];
      const first = await stage.serve(knobs).ready();
      const { body: task } = await stage.submit({ queue: 'mail' });
      const lease = async (worker_id: string): Promise<Fields> => {
        const asked = { worker_id, queues: ['mail'], wait_ms: 30_000 };
        const { body } = await stage.call('POST', '/v1/leases', asked);
        return (body['leases'] as Fields[])[0] as Fields;
      };
      const report = async (held: Fields, verb: string, more: Fields = {}): Promise<unknown> => {
        const fields = { task_id: task['task_id'], ...more };
        return (await stage.call('POST', `/v1/leases/${held['lease_id']}/${verb}`, fields)).body[
          'outcome'
        ];
      };
      const one = await lease('w1');
      const two = await lease('w2');
      expect(await report(one, 'complete')).equal('CANCELLED');
      expect(await report(two, 'fail', { reason: 'no luck' })).equal('COMMITTED');
      const before = await countersOf(stage);
      expect(before).include({ lease_expirations: 1, duplicate_executions: 1, late_reports: 1 });
      first.kill('SIGKILL');
      await first.ended;

      await stage.serve(knobs).ready();
      expect(await countersOf(stage)).deep.equal(before);
      const three = await lease('w3');
      expect(await report(three, 'complete')).equal('COMMITTED');
      const { body } = await stage.call('GET', `/v1/tasks/${task['task_id']}/explain`);
      const attempts = body['attempts'] as Fields[];
      expect(attempts.map(({ ended }) => ended)).deep.equal(['expired', 'failed', 'completed']);
      expect(attempts.map(({ evidence }) => evidence)).deep.equal([
        'reported',
        'reported',
        'reported',
      ]);
      expect(body['overlaps']).length(1);
      expect((body['overlaps'] as Fields[])[0]).include({ certainty: 'did' });
      expect(body['starts']).length(1);
      expect((await countersOf(stage))['retries']).equal(1);
    });
  }
});
