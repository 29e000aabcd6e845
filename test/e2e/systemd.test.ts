// The systemd unit, and what `serve` does for it: it says when it is ready, by the program that
// systemd has for that, and its exit statuses are those that the unit names.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Io } from '../../src/cli/command.ts';
import { notifyReady } from '../../src/cli/notify-ready.ts';
import { command } from '../support/command.ts';
import { skip } from '../support/skip.ts';
import { Stage } from './support.ts';

const UNIT = path.resolve('docs/leasehold.service');

describe('under systemd', () => {
  let stage: Stage;
  let bin: string;
  beforeEach(async () => {
    stage = await Stage.open();
    bin = path.join(stage.dir, 'bin');
    mkdirSync(bin);
  });
  afterEach(() => stage.close());

  const told = (): string => path.join(stage.dir, 'told');
  /** Stands in for the program of systemd: notes what it is asked to tell, and whom. */
  function standIn(then = ''): void {
    const file = path.join(bin, 'systemd-notify');
    const script = `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${told()}'\n${then}\n`;
    writeFileSync(file, script);
    chmodSync(file, 0o755);
  }
  const env = (): NodeJS.ProcessEnv => ({ NOTIFY_SOCKET: '/run/x', PATH: `${bin}:/usr/bin:/bin` });

  it('says that it is ready, once, when it is, and ends as the unit expects', async () => {
    const unit = readFileSync(UNIT, 'utf8');
    expect(/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]).equal('2 6');
    standIn();
    const server = await stage.serve([], { env: env() }).ready();
    while (!existsSync(told())) await pause(10);
    expect((await stage.submit()).status).equal(201);
    const locked = stage.serve([], { port: 0 });
    expect((await locked.ended).code, 'another start cannot help').equal(6);
    server.kill('SIGTERM');
    expect((await server.ended).code).equal(0);
    expect(readFileSync(told(), 'utf8')).equal('/run/x --ready\n');
    expect(server.err).equal('');
    const misspelt = ['serve', '--data-dir', stage.dataDir, '--tick-ms', 'often'];
    expect((await command(misspelt)).code, 'nor here').equal(2);
  });

  /** Tells in this process. @returns what is said about it meanwhile. */
  function telling(env: NodeJS.ProcessEnv): () => string {
    let said = '';
    const stderr = { write: (text: string) => void (said += text) };
    const { PATH } = process.env;
    process.env['PATH'] = env['PATH'];
    notifyReady({ env, stderr } as unknown as Io);
    process.env['PATH'] = PATH;
    return () => said;
  }

  it('says nothing where nobody waits for it', () => {
    standIn();
    telling({ PATH: `${bin}:/usr/bin:/bin` });
    expect(existsSync(told())).equal(false);
  });

  it('goes on where it cannot be said, and tells why', async () => {
    standIn('echo no such socket >&2; exit 1');
    const said = telling(env());
    while (!said().includes('Type=exec')) await pause(10);
    expect(said()).match(/^leasehold: systemd-notify: .*no such socket/s);
  });

  it('has no more rights than it needs', function () {
    const args = ['security', '--offline=true', '--threshold=40', '--no-pager', UNIT];
    const { error, status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    if (error !== undefined) skip(this, 'systemd-analyze is not installed');
    if (/unrecognized option|Unknown/.test(stdout)) skip(this, 'systemd-analyze is too old');
    expect(stdout).match(/Overall exposure level for leasehold\.service: [0-3]\.\d OK/);
    expect(status).equal(0);
  });
});
