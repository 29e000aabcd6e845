// Follows the log of the real executable while clients work: a follower that dies and resumes, and
// a server that is killed, must leave no gap and no second copy; counters are equal over a restart.

import http from 'node:http';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { samplesOf, valueOf } from '../metrics/exposition.ts';
import { Load } from './load.ts';
import { type Fields, Stage } from './support.ts';

/** One life of a follower: reads until it has `lines`, or its connection breaks. */
function follow(stage: Stage, from: number, lines: number): Promise<number[]> {
  const path = `/v1/log?follow=true&from=${from}`;
  return new Promise((resolve) => {
    const seen: number[] = [];
    const request = http.get(
      { host: '127.0.0.1', port: stage.port, path, agent: false },
      (response) => {
        response.on('error', () => {});
        const input = createInterface({ input: response });
        input.on('line', (line) => {
          // A line that a broken connection cut off is no line: it is asked for again.
          if (seen.length < lines && line.endsWith('}')) seen.push(JSON.parse(line).seq as number);
          if (seen.length === lines) request.destroy();
        });
        input.on('error', () => {});
        response.on('close', () => resolve(seen));
      },
    );
    request.on('error', () => resolve(seen));
    request.setTimeout(5_000, () => request.destroy());
  });
}

const countersOf = async (stage: Stage): Promise<Record<string, number>> => {
  const { text } = await stage.call('GET', '/metrics');
  const ours = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?leasehold_/.test(line));
  const samples = samplesOf(ours.join('\n'));
  const names = ['lease_expirations', 'duplicate_executions', 'late_reports', 'retries'];
  return Object.fromEntries(
    names.map((name) => [name, valueOf(samples, `leasehold_${name}_total`)]),
  );
};

describe('a follower of the log', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('sees each record once, over its own deaths and the server’s', async () => {
    const seen: number[] = [];
    for (let life = 1; life <= 2; life += 1) {
      const server = await stage.serve(['--segment-bytes', '1048576']).ready();
      const load = new Load(stage, 4);
      for (let death = 0; death < 50; death += 1) {
        seen.push(...(await follow(stage, seen.length + 1, 1 + ((death * 7) % 23))));
      }
      server.kill('SIGKILL');
      await server.ended;
      await load.stop();
    }
    await stage.serve().ready();
    const all = await stage.records();
    seen.push(...(await follow(stage, seen.length + 1, all.length - seen.length)));
    expect(seen).deep.equal(all.map(({ seq }) => seq));
    expect(seen.length).above(500);
  });

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
  });
});

describe('what the log tells', function () {
  this.timeout(60_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('has the delay of every thread beside it', async () => {
    await stage.serve().ready();
    const { text } = await stage.call('GET', '/metrics');
    const lags = samplesOf(text).filter(({ name }) => name === 'leasehold_event_loop_lag_seconds');
    const actors = new Set(lags.map(({ labels }) => labels['actor']));
    expect([...actors]).members(['coordinator', 'http', 'reader', 'socket', 'timer']);
  });

  it('is told alike before and after a kill in the middle of the story', async () => {
    const knobs = ['--lease-duration-ms', '400', '--backoff-ms', '0'];
    const first = await stage.serve(knobs).ready();
    const { body: task } = await stage.submit({ queue: 'mail' });
    const lease = async (worker_id: string): Promise<Fields> => {
      const asked = { worker_id, queues: ['mail'], wait_ms: 5_000 };
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
});
