// Holds the etcd of tests to what it promises its machine: nothing of it is left behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { withEtcd } from './etcd-cluster.ts';

const ABANDONED = fileURLToPath(new URL('./etcd-abandoned.js', import.meta.url));

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

withEtcd('test/support/etcd-cluster', { members: 1 }, (cluster) => {
  it('leaves no process and no file, when the process that started it is killed', async () => {
    const child = spawn(process.execPath, [ABANDONED], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { pids, directory } = JSON.parse(line) as { pids: number[]; directory: string };
    expect([pids.length, pids.every(lives), fs.existsSync(directory)]).to.deep.equal([
      1,
      true,
      true,
    ]);
    child.kill('SIGKILL');
    while (pids.some(lives) || fs.existsSync(directory)) await pause(50);
    expect(cluster().pids.every(lives)).to.equal(true);
  });

  it('goes on with its data after a member was killed', async () => {
    const [pid] = cluster().pids;
    await cluster().restart(0);
    expect(cluster().pids).to.have.length(1).and.not.include(pid);
    expect(await cluster().leader()).to.equal(0);
  });
});
