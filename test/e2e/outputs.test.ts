// What nobody takes: the reader of an output went away, or its device is full. A server and a
// worker go on, every other command ends and says so where it can.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { recordsIn } from '../reliability/verified.ts';
import { cleanEnv } from '../support/server.ts';
import { skip } from '../support/skip.ts';
import { Stage } from './support.ts';

const FULL = '/dev/full';

describe('outputs that take nothing more', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('do not end a server whose log lines nobody reads', async () => {
    const server = stage.serve(['--log-level', 'debug']);
    server.child.stdout?.destroy();
    server.child.stderr?.destroy();
    await server.ready();
    expect((await stage.submit()).status).to.equal(201);
    server.kill('SIGTERM');
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
    expect(await recordsIn(stage.dataDir)).to.have.length(2);
  });

  it('do not end a server whose log lines go to a full device', async function () {
    if (!existsSync(FULL)) skip(this, `there is no ${FULL}`);
    const full = openSync(FULL, 'w');
    const args = ['serve', '--data-dir', stage.dataDir, '--http-port', String(stage.port)];
    const server = spawn(process.execPath, [EXECUTABLE, ...args, '--socket-port', '0'], {
      stdio: ['ignore', full, full],
      env: cleanEnv(),
    });
    try {
      await untilReady(stage, () => server.exitCode !== null);
      expect((await stage.submit()).status).to.equal(201);
      server.kill('SIGTERM');
      expect(await once(server, 'close')).to.deep.equal([0, null]);
    } finally {
      server.kill('SIGKILL');
    }
  });

  it('do not end a worker whose events nobody reads', async () => {
    await stage.serve().ready();
    await stage.submit();
    const worker = spawn(process.execPath, [EXECUTABLE, 'work', '--exec', 'cat', '--once'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: cleanEnv({ LEASEHOLD_URL: stage.url }),
    });
    worker.stderr.destroy();
    try {
      expect(await once(worker, 'close')).to.deep.equal([0, null]);
      const [task] = (await stage.call('GET', '/v1/tasks')).body['tasks'] as { state: string }[];
      expect(task?.state).to.equal('COMPLETED');
    } finally {
      worker.kill('SIGKILL');
    }
  });

  for (const words of [['transitions'], ['serve', '--help']])
    it(`end ${words[0]} with a status and a word, and no inside of the program`, async function () {
      if (!existsSync(FULL)) skip(this, `there is no ${FULL}`);
      const command = spawn(process.execPath, [EXECUTABLE, ...words], {
        stdio: ['ignore', openSync(FULL, 'w'), 'pipe'],
      });
      let said = '';
      command.stderr?.on('data', (data) => {
        said += data;
      });
      expect(await once(command, 'close')).to.deep.equal([1, null]);
      expect(said)
        .to.match(/^leasehold: standard output: ENOSPC/)
        .and.not.match(/\bat /);
    });
});

async function untilReady(stage: Stage, isOver: () => boolean): Promise<void> {
  for (;;) {
    if (isOver()) throw new Error('the server ended');
    const status = await stage.call('GET', '/readyz').then(
      (called) => called.status,
      () => 0,
    );
    if (status === 200) return;
    await pause(10);
  }
}
