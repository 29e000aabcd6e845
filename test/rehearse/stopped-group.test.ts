// Holds the freeze of a worker to its promise: when it is told of, no thread of the group runs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { groupStopped } from '../../src/rehearse/stopped-group.ts';
import { need } from '../reliability/machine.ts';

const BUSY = `
  const { Worker } = require('node:worker_threads');
  const spin = "for (;;) { if (Date.now() < 0) break; }";
  const workers = Array.from({ length: 3 }, () => new Worker(spin, { eval: true }));
  Promise.all(workers.map((one) => new Promise((up) => one.once('online', up))))
    .then(() => console.log('busy'));`;

describe('a group that was sent SIGSTOP', () => {
  it('stands still, with all its threads, when that is told', async function () {
    need(this, 'linux');
    const child = spawn(process.execPath, ['-e', BUSY], { detached: true });
    const pid = child.pid as number;
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      process.kill(-pid, 'SIGSTOP');
      await groupStopped(pid);
      expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).match(/\) T /);
    } finally {
      process.kill(-pid, 'SIGKILL');
      await ended;
    }
  });

  it('is not waited for when there is none', () => groupStopped(2 ** 30));
});
