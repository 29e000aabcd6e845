// The Worker in README.md, when the coordinator does not confirm the lease right before the effect:
// a task whose effect was left out must not be completed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startCoordinator, type TestCoordinator } from '../../src/testing/testing.ts';

const URL_THERE = 'http://127.0.0.1:5327';

describe('the Worker in README.md, while its lease is not confirmed', () => {
  let coordinator: TestCoordinator;
  let worker: ChildProcess | undefined;
  beforeEach(async () => {
    // The first heartbeat is that of stillMine(): none comes by itself before.
    coordinator = await startCoordinator({ heartbeatIntervalMs: 10_000, backoffMs: 0 });
  });
  afterEach(async () => {
    worker?.kill('SIGKILL');
    await coordinator.stop();
  });

  /** @returns ends the worker, and gives all that it printed */
  function start(): () => Promise<string> {
    const [, , code = ''] = readFileSync('README.md', 'utf8').split('```js\n');
    const text = code.slice(0, code.indexOf('```'));
    expect(text).to.include('new Worker').and.to.include(URL_THERE);
    // Within the package: there its own name means this very build.
    const file = fileURLToPath(new URL('./not-confirmed-worker.mjs', import.meta.url));
    writeFileSync(file, text.replaceAll(URL_THERE, coordinator.url));
    const { LEASEHOLD_URL: _, ...env } = process.env;
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    worker = child;
    let out = '';
    child.stdout.on('data', (piece) => {
      out += piece;
    });
    const closed = once(child, 'close');
    return async () => {
      child.kill('SIGTERM');
      await closed;
      return out;
    };
  }

  it('fails the attempt, and makes its effect in the next one', async () => {
    const client = coordinator.client();
    const { taskId } = await client.submit({ queue: 'mail', payload: { to: 'a@example.org' } });
    coordinator.loseNextAnswer('heartbeat');
    const end = start();
    const task = await client.task(taskId, { waitMs: 50_000 });
    expect(task).to.include({ state: 'COMPLETED', attempt: 2 });
    expect(await end()).to.equal('attempt 2: a mail to a@example.org\n');
  });
});
