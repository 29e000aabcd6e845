// The demonstration on a folder of its own: it ends well, cleans up, and would notice if not.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { check } from '../../src/play/demo/compare.ts';
import { factsOf } from '../../src/play/demo/file-hash.ts';
import { Process } from '../../src/play/demo/processes.ts';
import { cleanEnv } from '../support/server.ts';
import { Stage } from './support.ts';

const DEMO = fileURLToPath(new URL('../../src/play/demo/demo.js', import.meta.url));
const FILES = 40;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the demonstration', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  it('ends with every result right and one that ran twice, and leaves nothing', async function () {
    this.timeout(180_000);
    const folder = path.join(stage.dir, 'files');
    mkdirSync(path.join(folder, 'sub'), { recursive: true });
    for (let i = 0; i < FILES; i++) {
      const name = i % 2 === 0 ? `file ${i}` : `sub/file ${i}`;
      writeFileSync(path.join(folder, name), 'line\n'.repeat(i) + '\u0000\u00ff'.repeat(i));
    }
    const before = new Set(readdirSync(os.tmpdir()));
    const demo = stage.track(new Process([DEMO, folder], cleanEnv()), () => {});
    const { code } = await demo.ended;
    expect(code, demo.out + demo.err).to.equal(0);
    expect(demo.out).to.include(`${FILES} of ${FILES} results equal a direct computation.`);
    expect(demo.out).to.match(/LeaseExpired T\d+ LEASED → WAITING L\d+\n/);
    expect(demo.out).to.match(/^restarts of the coordinator +1$/m);
    const pid = Number(/coordinator (\d+) is ready/.exec(demo.out)?.[1]);
    expect(isAlive(process.pid)).to.equal(true);
    expect(isAlive(pid)).to.equal(false);
    const left = readdirSync(os.tmpdir()).filter(
      (name) => name.startsWith('leasehold-demo-') && !before.has(name),
    );
    expect(left).to.deep.equal([]);
  });

  it('needs files', async () => {
    const demo = stage.track(
      new Process([DEMO, path.join(stage.dir, 'none')], cleanEnv()),
      () => {},
    );
    expect((await demo.ended).code).to.equal(2);
  });

  it('finds what is wrong with results, with the task that ran twice, and restarts', async () => {
    const server = await stage.serve().ready();
    const client = new Client({ url: server.url });
    const { taskId } = await client.submit({ payload: 'x' });
    const { leases } = await client.lease({ workerId: 'w' });
    const [lease] = leases;
    if (lease === undefined) throw new Error('nothing was leased');
    await client.complete(lease, 'wrong');
    const fileTasks = [{ taskId, file: 'x', facts: factsOf(Buffer.from('x')) }];
    const victim = { taskId, leaseId: lease.leaseId };
    const faults = await check({ client, url: server.url, fileTasks, victim, print: () => {} });
    client.close();
    expect(faults.join('\n'))
      .to.match(/COMPLETED with wrong/)
      .and.match(/granted once only/)
      .and.match(/did not expire/)
      .and.match(/not restarted once/);
  });
});
