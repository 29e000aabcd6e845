// Asks the real executable why a task has not run: the answer names who asks for its queue, which
// the coordinator alone knows, and goes all the way through the threads to the page.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Fields } from '../support/server.ts';
import { Stage } from './support.ts';

describe('why a task has not run', function () {
  this.timeout(180_000);
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    await stage.serve(['--lease-duration-ms', '600000']).ready();
  });
  after(() => stage.close());

  /** The sentences of an explanation's last part. */
  const why = async (taskId: unknown): Promise<string> => {
    const { body } = await stage.call('GET', `/v1/tasks/${taskId}/explain`);
    const now = body['now'] as Fields;
    return [...(now['facts'] as string[]), now['next']].join('\n');
  };
  const submit = async (queue: string): Promise<unknown> =>
    (await stage.submit({ queue })).body['task_id'];
  const lease = async (fields: Fields): Promise<unknown> =>
    (await stage.call('POST', '/v1/leases', { worker_id: 'w', ...fields })).body['leases'];

  it('because nobody asks, or all ask for another name', async () => {
    const task = await submit('mail');
    expect(await why(task)).match(/No worker has asked for queue mail .* nor for any other/);
    await lease({ queues: ['mial'] });
    expect(await why(task)).match(
      /No worker has asked for queue mail .* but workers have asked for mial/,
    );
  });

  it('because the worker that waits for it is full', async () => {
    const first = await submit('bulk');
    expect(await lease({ queues: ['bulk'], capacity: 1 })).length(1);
    const parked = lease({ queues: ['bulk'], capacity: 1, wait_ms: 60_000 });
    const second = await submit('bulk');
    const waiting = async (): Promise<unknown> =>
      (await stage.call('GET', '/v1/stats')).body['parked_requests'];
    while ((await waiting()) !== 1) await pause(5);
    expect(await why(second)).include('1 lease request for queue bulk waits now, not served');
    expect((await stage.call('POST', `/v1/tasks/${first}/kill`, {})).status).equal(200);
    expect(await parked).length(1);
    expect(await why(second)).include('It is LEASED');
  });

  it('because the one that asked took another', async () => {
    const tasks = [await submit('news'), await submit('news'), await submit('news')];
    expect(await lease({ queues: ['news'] })).length(1);
    expect(await why(tasks[1])).include('did not get this task');
    const last = await why(tasks[2]);
    expect(last).include('1 task of queue news is ahead of it');
    expect(last).include('Once none is ahead of it');
  });

  it('because the coordinator is down: the log tells without it', async () => {
    const task = await submit('mail');
    const [record] = (await stage.records()).slice(-1);
    await stage.stopAll();
    const asked = await stage.run(['explain', String(task)]);
    expect(asked.err).include(`leasehold explain ${task} --data-dir DIR`);
    const told = await stage.run(['explain', String(task), '--data-dir', stage.dataDir]);
    expect(told.out).include(`read from the log alone, as of record ${record?.['seq']}`);
  });
});
