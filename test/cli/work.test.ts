// `leasehold work`: any command as a worker, run as users run it.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { orWithLongerLeases } from '../client/longer-leases.ts';
import { MAIN, type RealServer, sharedServer } from '../client/real-server.ts';
import { command, type Ran } from '../support/command.ts';
import { untilEchoed } from '../support/echoes.ts';
import { inTurn } from '../support/tier.ts';
import { ended as untilEnded } from '../support/waiting.ts';

/** Of those that are to run out, or to be kept. */
const LEASE_MS = 3_000;

describe('leasehold work', () => {
  // A busy machine takes long for a shell, and for a heartbeat: no lease runs out by that.
  const lasting = sharedServer('--lease-duration-ms', '60000', '--backoff-ms', '0');
  let server = lasting;
  const running: ChildProcess[] = [];
  let client: Client;
  let queue: string;
  let number = 0;
  function use(other: RealServer): void {
    server = other;
    client?.close();
    client = new Client({ url: server.tcp });
  }
  before(() => use(lasting));
  beforeEach(() => {
    number += 1;
    queue = `q${number}`;
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  after(() => client.close());

  const submit = async (payload: string, more: object = {}): Promise<string> => {
    const retryPolicy = { maxRetries: 0 };
    return (await client.submit({ payload, queue, retryPolicy, ...more })).taskId;
  };
  const ended = (taskId: string) => untilEnded(client, taskId);

  const work = (exec: string, ...flags: string[]) => workAs([], {}, exec, ...flags);

  /** @param before a program that runs node, such as a shell that limits what it may use */
  function workAs(
    before: readonly string[],
    environment: object,
    exec: string,
    ...flags: string[]
  ) {
    const args = [MAIN, 'work', '--queue', queue, '--exec', exec, ...flags];
    const [program, ...all] = [...before, process.execPath, ...args] as [string, ...string[]];
    const env = { ...process.env, LEASEHOLD_URL: server.http, ...environment };
    const child = spawn(program, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    const exit = once(child, 'close').then(([code]) => ({ code: code as number, said }));
    return { child, exit };
  }

  /** Until there is no task left, in the test's own process. */
  const untilDone = (exec: string, ...flags: string[]): Promise<Ran> => {
    const args = ['work', '--queue', queue, '--exec', exec, '--once', ...flags];
    return command(args, { env: { ...process.env, LEASEHOLD_URL: server.http } });
  };

  it('reports by exit status, with the environment that it gives', async () => {
    const [good, bad, never] = [await submit('good'), await submit('bad'), await submit('never')];
    const names = 'TASK_ID LEASE_ID ATTEMPT FENCING_TOKEN QUEUE'.split(' ');
    const shown = names.map((name) => `$LEASEHOLD_${name}`).join(' ');
    const { code } = await untilDone(
      `case "$(cat)" in good) echo "${shown}";; bad) echo it broke >&2; exit 3;; *) exit 65;; esac`,
    );
    expect(code).to.equal(0);
    const tasks = [await ended(good), await ended(bad), await ended(never)];
    expect(tasks.map(({ state }) => state)).to.deep.equal(['COMPLETED', 'FAILED', 'FAILED']);
    expect(String(tasks[0]?.result)).to.match(RegExp(`^${good} (L(\\d+)) 1 \\2 ${queue}\n$`));
    expect(tasks[1]?.lastFailureReason).to.equal('exit status 3: it broke');
    expect(tasks[2]).to.include({
      lastFailureKind: 'permanent',
      lastFailureReason: 'exit status 65',
    });
  });

  it('passes bytes through in both directions', async () => {
    const payload = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { taskId } = await client.submit({ payload, queue });
    await untilDone('cat');
    expect((await ended(taskId)).result).to.deep.equal(payload);
  });

  it('makes too much output a permanent failure, and never cuts it', async () => {
    const taskId = await submit('x');
    await untilDone('head -c 1500000 /dev/zero');
    const task = await ended(taskId);
    expect(task).to.include({ state: 'FAILED', lastFailureKind: 'permanent' });
    expect(task.lastFailureReason).to.contain('1500000 bytes');
  });

  it('gives the end of a long stderr as the reason, within its limit', async () => {
    const taskId = await submit('x');
    await untilDone('seq 1 20000 | sed s/^/é/ >&2; exit 1');
    const { lastFailureReason } = await ended(taskId);
    expect(lastFailureReason).to.match(/^exit status 1: .*é20000$/s);
    expect(Buffer.byteLength(String(lastFailureReason))).to.be.within(3_900, 4_096);
  });

  it('releases at TERM what it cannot finish, and ends with 0 in time', async () => {
    const taskId = await submit('x');
    const { child, exit } = work('echo begun >&2; sleep 60', '--grace-ms', '100', '--json');
    while ((await client.task(taskId)).state !== 'LEASED') await turn();
    const before = performance.now();
    child.kill('SIGTERM');
    const { code, said } = await exit;
    expect(code, said).to.equal(0);
    expect(performance.now() - before, 'long before the command').to.be.below(20_000);
    const task = await client.task(taskId);
    expect(task).to.include({ state: 'WAITING', lastFailureKind: 'released', failures: 0 });
  });

  it('gives it back at once when it is told twice, and leaves no command behind', async () => {
    const taskId = await submit('x');
    const { child, exit } = work('echo $$ >&2; exec sleep 60', '--grace-ms', '60000', '--json');
    while ((await client.task(taskId)).state !== 'LEASED') await turn();
    // Two of the same signal may arrive as one.
    child.kill('SIGTERM');
    child.kill('SIGINT');
    const { code, said } = await exit;
    expect(code, said).to.equal(0);
    expect(await client.task(taskId)).to.include({ state: 'WAITING', lastFailureKind: 'released' });
    expect(isAlive(Number(/^\d+$/m.exec(said)?.[0])), said).to.equal(false);
  });

  for (const signal of inTurn(['SIGHUP', 'SIGQUIT', 'SIGINT'] as const)) {
    it(`gives back at ${signal} what is in hand, and leaves no command behind`, async () => {
      const taskId = await submit('x');
      const { child, exit } = work('echo $$ >&2; exec sleep 60', '--grace-ms', '100ms', '--json');
      while ((await client.task(taskId)).state !== 'LEASED') await turn();
      child.kill(signal);
      const { code, said } = await exit;
      expect(code, said).to.equal(0);
      expect(await client.task(taskId)).to.include({ state: 'WAITING', failures: 0 });
      expect(isAlive(Number(/^\d+$/m.exec(said)?.[0])), said).to.equal(false);
    });
  }

  it('takes a Ctrl-C that comes twice, as by npx, for one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
    const { code, task } = await untilEchoed(async (round) => {
      const [begun, end] = [join(dir, `begun-${round}`), join(dir, `end-${round}`)];
      const taskId = await submit('x');
      const exec = `touch ${begun}; until [ -e ${end} ]; do sleep 0.1; done; echo done`;
      const { child, exit } = workAs([], shim('hears'), exec, '--grace-ms', '30s');
      while (!existsSync(begun)) await turn();
      child.kill('SIGINT');
      await pause(5);
      child.kill('SIGINT');
      writeFileSync(end, '');
      return { ...(await exit), task: await client.task(taskId) };
    });
    expect(code).to.equal(0);
    expect(task).to.include({ state: 'COMPLETED' });
    rmSync(dir, { recursive: true });
  });

  it('leases nothing where no command can be started', async () => {
    const taskId = await submit('x');
    const { code, said } = await workAs([], shim('shell'), 'cat', '--once').exit;
    expect(code).to.equal(1);
    expect(said).to.match(/^the command cannot be started: .*ENOENT/m);
    expect(await client.task(taskId)).to.include({ state: 'WAITING', attempt: 0 });
  });

  it('gives back, uncharged, what it has no descriptors for', async () => {
    const tasks = await Promise.all(Array.from({ length: 24 }, (_, n) => submit(`${n}`)));
    const few = ['bash', '-c', 'ulimit -n 64; exec "$0" "$@"'];
    const { child, exit } = workAs(few, {}, 'sleep 0.5; echo done', '--concurrency', '24');
    for (const taskId of tasks) {
      const task = await ended(taskId);
      expect(task).to.include({ state: 'COMPLETED', failures: 0, expirations: 0 });
    }
    child.kill('SIGTERM');
    const { code, said } = await exit;
    expect(code, said).to.equal(0);
    expect(said).to.match(/cannot be started: this process may open no more files/);
  });

  it('ends its commands when it ends by an error that nobody caught', async () => {
    const taskId = await submit('x');
    const { exit } = workAs([], shim('crash'), 'echo $$ >&2; exec sleep 60', '--json');
    const { code, said } = await exit;
    expect(code, said).to.not.equal(0);
    const pid = Number(/^leasehold: pid (\d+)$/m.exec(said)?.[1]);
    expect(pid, said).to.be.greaterThan(1);
    while (isAlive(pid)) await turn();
    await client.kill(taskId);
  });

  it('lets a command end that is nearly done', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
    const begun = join(dir, 'begun');
    const taskId = await submit('x');
    const { child, exit } = work(`touch ${begun}; sleep 0.6; echo done`, '--grace-ms', '8000');
    while (!existsSync(begun)) await turn();
    child.kill('SIGTERM');
    expect((await exit).code).to.equal(0);
    expect(await client.task(taskId)).to.include({ state: 'COMPLETED' });
    rmSync(dir, { recursive: true });
  });

  it('runs several at a time', async () => {
    const tasks = await Promise.all([1, 2, 3, 4].map((n) => submit(`${n}`)));
    const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
    // Each ends when all of them have begun.
    const begun = `touch ${dir}/$LEASEHOLD_TASK_ID`;
    const all = `${begun}; until [ $(ls ${dir} | wc -l) = 4 ]; do sleep 0.1; done`;
    await untilDone(all, '--concurrency', '4');
    rmSync(dir, { recursive: true });
    for (const taskId of tasks) expect(await ended(taskId)).to.include({ state: 'COMPLETED' });
  });

  it('ends with 0 when there is nothing to do, 3 without a server, 2 for wrong usage', async () => {
    expect((await work('true', '--once').exit).code).to.equal(0);
    const none = await work('true', '--url', 'tcp://127.0.0.1:1').exit;
    expect(none.code).to.equal(3);
    expect(none.said).to.contain('127.0.0.1:1');
    expect((await untilDone('true', '--url', 'gopher://x')).code).to.equal(2);
    expect((await untilDone('true', '--concurrency', '0')).code).to.equal(2);
    const taskId = await submit('x');
    expect((await untilDone(' ')).code).to.equal(2);
    expect(await client.task(taskId)).to.include({ state: 'WAITING', failures: 0 });
    await untilDone('true');
  });

  it('tells a reason on one line, which cannot steer the terminal', async () => {
    await submit('x');
    const { err } = await untilDone(String.raw`printf '\033[31mred\nT9 completed' >&2; exit 65`);
    expect(err).to.match(/failed, .*exit status 65: ·\[31mred·T9 completed$/m);
  });

  describe('with leases that run out', () => {
    const short = sharedServer('--lease-duration-ms', `${LEASE_MS}`, '--backoff-ms', '0');
    before(() => use(short));
    after(() => use(lasting));

    it('keeps the lease of a command that runs longer than it', () =>
      orWithLongerLeases({ server: short, leaseMs: LEASE_MS, use }, async (leaseMs) => {
        const taskId = await submit('x');
        await untilDone(`sleep ${(leaseMs * 1.2) / 1_000}; echo done`, '--url', server.unix);
        expect(await ended(taskId)).to.include({ state: 'COMPLETED', attempt: 1 });
      }));

    it('ends the whole process group when the lease is lost', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
      const file = join(dir, 'pids');
      const taskId = await submit('x');
      // A grandchild that ignores TERM, and writes down who it is.
      const stubborn = `(trap '' TERM; sh -c 'echo $PPID'; while :; do sleep 0.1; done) > ${file}`;
      const { child } = work(`${stubborn} & wait`, '--json');
      while (!existsSync(file) || readFileSync(file, 'utf8').trim() === '') await turn();
      const pid = Number(readFileSync(file, 'utf8').trim());
      expect(isAlive(pid)).to.equal(true);
      await client.kill(taskId);
      while (isAlive(pid)) await turn();
      child.kill('SIGTERM');
    });

    it('suspends its commands with itself, and ends them if their leases are lost', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
      const file = join(dir, 'ticks');
      const ticks = (): number => (existsSync(file) ? readFileSync(file, 'utf8').length : 0);
      const taskId = await submit('x');
      const { child, exit } = work(`while :; do printf . >> ${file}; sleep 0.05; done`, '--json');
      while (ticks() < 3) await turn();
      child.kill('SIGTSTP');
      while ((await client.task(taskId)).state !== 'WAITING') await turn();
      const atExpiry = ticks();
      await pause(300);
      expect(ticks()).to.equal(atExpiry);
      child.kill('SIGCONT');
      // The lease was lost, and the task is leased anew by the same worker.
      while (ticks() <= atExpiry + 3) await turn();
      child.kill('SIGTERM');
      child.kill('SIGTERM');
      expect((await exit).said).to.contain('"lost"');
      const task = await client.task(taskId);
      expect(task).to.include({ state: 'WAITING', expirations: 1, failures: 0 });
    });

    it('goes on after it was suspended for less than its lease', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'leasehold-work-'));
      let suspendedMs = Number.POSITIVE_INFINITY;
      // The server's lease goes on: a round in which the machine was slow is played again.
      for (let round = 1; suspendedMs > LEASE_MS / 4; round += 1) {
        const begun = join(dir, `begun-${round}`);
        const taskId = await submit('x');
        const { child, exit } = work(`touch ${begun}; sleep 1.5; echo done`, '--grace-ms', '30s');
        while (!existsSync(begun)) await turn();
        const from = performance.now();
        child.kill('SIGTSTP');
        while (!isSuspended(child)) await turn();
        child.kill('SIGCONT');
        suspendedMs = performance.now() - from;
        const task = await ended(taskId);
        if (suspendedMs <= LEASE_MS / 4)
          expect(task).to.include({ state: 'COMPLETED', attempt: 1 });
        child.kill('SIGTERM');
        expect((await exit).code).to.equal(0);
      }
      rmSync(dir, { recursive: true });
    });
  });
});

/**
 * Something that goes wrong in `work` itself: the shell is missing, or an error is not caught. Or
 * nothing does, and it tells when it hears a signal.
 */
function shim(what: 'shell' | 'crash' | 'hears'): { NODE_OPTIONS: string } {
  const file = join(mkdtempSync(join(tmpdir(), 'leasehold-work-')), 'shim.mjs');
  if (what === 'hears') {
    const hears = "process.on('SIGINT', () => console.error('heard ' + performance.now()));";
    writeFileSync(file, hears);
    return { NODE_OPTIONS: `--import ${file}` };
  }
  const shell = "real('/no/bin/sh', ['-c', command], { ...options, shell: false })";
  const crash = `{
    const child = real(command, options);
    if (command !== 'exit 0') {
      console.error('leasehold: pid ' + child.pid);
      setTimeout(() => { throw new Error('a bug'); }, 200);
    }
    return child;
  }`;
  writeFileSync(
    file,
    `import cp from 'node:child_process';
    import { syncBuiltinESMExports } from 'node:module';
    const real = cp.spawn;
    cp.spawn = (command, options) => ${what === 'shell' ? shell : crash};
    syncBuiltinESMExports();`,
  );
  return { NODE_OPTIONS: `--import ${file}` };
}

const turn = (): Promise<void> => pause(20);

/** Whether it stands still, as after Ctrl-Z. To start `ps` again and again takes a processor. */
function isSuspended({ pid }: ChildProcess): boolean {
  const stat = `/proc/${pid}/stat`;
  if (existsSync(stat)) return readFileSync(stat, 'utf8').includes(') T ');
  const args = ['-o', 'stat=', '-p', `${pid}`];
  return execFileSync('ps', args, { encoding: 'utf8' }).startsWith('T');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
