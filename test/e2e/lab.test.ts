// `lab` as a process: a coordinator of its own that goes without a trace, and never the one of
// somebody else.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { needEtcd } from '../support/etcd-cluster.ts';
import { cleanEnv } from '../support/server.ts';
import { Stage } from './support.ts';

describe('lab', () => {
  let stage: Stage;
  let folder: string;
  beforeEach(async () => {
    stage = await Stage.open();
    folder = mkdtempSync(path.join(os.tmpdir(), 'leasehold-labs-'));
  });
  afterEach(async () => {
    await stage.close();
    rmSync(folder, { recursive: true });
  });
  const start = (): Process => {
    const args = [EXECUTABLE, 'lab', '--port', `${stage.port}`];
    return stage.track(new Process(args, cleanEnv({ TMPDIR: folder })), () => {});
  };

  it('prints its log while it grows, is alone on its port, and leaves nothing', async () => {
    const lab = start();
    while (!lab.out.includes('CoordinatorStarted')) {
      expect(lab.over, lab.err).to.equal(undefined);
      await pause(20);
    }
    await stage.submit({ queue: 'played' });
    while (!lab.out.includes('TaskCreated T2 → WAITING queue played')) await pause(20);
    const second = start();
    expect((await second.ended).code).to.equal(1);
    expect(second.err).to.match(/EADDRINUSE.*; name another port with --port\n$/);
    expect(second.out).to.equal('');
    expect(lab.over).to.equal(undefined);
    lab.kill('SIGINT');
    expect((await lab.ended).code).to.equal(0);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('with --cluster has two nodes, one takes over, and nothing is left', async function () {
    needEtcd(this);
    const args = [EXECUTABLE, 'lab', '--cluster', '--port', `${stage.port}`];
    const env = cleanEnv({ TMPDIR: folder });
    const lab = stage.track(new Process(args, env), () => {});
    const says = async (what: RegExp): Promise<string> => {
      for (;;) {
        const found = what.exec(lab.out)?.[1];
        if (found !== undefined) return found;
        expect(lab.over, lab.err).to.equal(undefined);
        await pause(20);
      }
    };
    const leader = await says(/node (\w) leads/);
    process.kill(Number(await says(new RegExp(`ode ${leader} is process (\\d+)`))), 'SIGKILL');
    await says(/node (\w) leads, after \d+ ms/);
    await says(/node (\w) runs again/);
    // As Ctrl-C in a terminal, which reaches every process of the group.
    const members = [...lab.out.matchAll(/m\d is process (\d+)/g)].map(([, pid]) => Number(pid));
    lab.kill('SIGINT');
    for (const pid of members) process.kill(pid, 'SIGINT');
    expect((await lab.ended).code).to.equal(0);
    expect(members).to.have.length(3);
    expect(lab.out).not.to.match(/etcd m\d is gone/);
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});
