// Shows that a story leaves nothing behind, however it ends: no process and no folder.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { EXECUTABLE } from '../../src/play/demo/processes.ts';
import { need } from '../reliability/machine.ts';
import { cleanEnv } from '../support/server.ts';

/** Processes that name the folder in their arguments. */
const processesOf = (folder: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false; // It has ended since.
    }
  });

describe('a story that does not come to its end', function () {
  this.timeout(180_000);
  let folder = '';
  before(function () {
    need(this, 'linux'); // Who is left is looked up in /proc.
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'leasehold-leftovers-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function endedBy(end: (story: ChildProcess) => void): Promise<number | null> {
    const story = spawn(process.execPath, [EXECUTABLE, 'story', 'worker-killed', '--yes'], {
      env: cleanEnv({ TMPDIR: folder }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    let running = 0;
    story.stdout.on('data', (text: Buffer) => {
      out += text.toString();
      if (running > 0 || !out.includes('client: submit')) return;
      running = processesOf(folder).length;
      end(story);
    });
    const [code] = (await once(story, 'exit')) as [number | null];
    expect(running, 'its server ran in the folder, or this would show nothing').greaterThan(0);
    for (const until = performance.now() + 60_000; processesOf(folder).length > 0; ) {
      if (performance.now() > until) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(processesOf(folder)).to.deep.equal([]);
    expect(readdirSync(folder)).to.deep.equal([]);
    return code;
  }

  it('because nobody reads it any more', async () => {
    expect(await endedBy((story) => story.stdout?.destroy())).to.equal(0);
  });

  it('because it is told to end', async () => {
    expect(await endedBy((story) => story.kill('SIGTERM'))).to.equal(143);
    expect(await endedBy((story) => story.kill('SIGINT'))).to.equal(130);
  });
});
