// The README is played: its commands as written, against a real server, and what it says comes of
// them is what comes of them. Only the port, and how long a lease lasts, are others.

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { cleanEnv } from '../support/server.ts';
import { isPlayed } from '../support/tier.ts';
import { block, README, steps } from './readme.ts';
import { Stage } from './support.ts';

const execute = promisify(execFile);
/**
 * The transcript's leases of 20 s would hold up the suite: all its times are divided by this. Where
 * a machine is too slow for leases so short, the transcript is played as it stands.
 */
const FASTER = [8, 1] as const;
type Factor = (typeof FASTER)[number];
const LONG = ['twice', 'rehearsal'];
const EXECUTED = `"${process.execPath}" "${EXECUTABLE}"`;

/** Standard output and error, as a terminal shows them. */
async function shell(command: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await execute('sh', ['-c', `{ ${command}\n} 2>&1`], { env: cleanEnv(env) });
  return stdout.replace(/\n$/, '');
}

/** Times of day differ from run to run, and nothing else does. */
const timeless = (text: string): string =>
  text.replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, 'TIME').replaceAll(/\bcli-[\w-]{12}\b/g, 'cli-ID');

const faster = (text: string, factor: Factor): string =>
  text
    .replaceAll(/\((\d+\.\d) s\)/g, (_, s: string) => `(${(Number(s) / factor).toFixed(1)} s)`)
    .replaceAll(/^sleep (\d+)$/gm, (_, s: string) => `sleep ${Number(s) / factor}`)
    .replaceAll(/--lease-duration-ms (\d+)/g, (_, ms: string) => {
      return `--lease-duration-ms ${Number(ms) / factor}`;
    });

interface Shown {
  readonly command: string;
  readonly shown: string;
  readonly expected: string;
}

/** The transcript on a server of its own, to its end or to the first command that shows else. */
async function playTwice(factor: Factor): Promise<Shown[]> {
  const heading = 'See a task run twice';
  const flags = faster(block(heading, 'sh').replace('npm start --', ''), factor).trim().split(' ');
  expect(flags).to.include('--data-dir');
  const stage = await Stage.open();
  const played: Shown[] = [];
  try {
    await stage.serve(flags.slice(2)).ready();
    for (const { command, output } of steps(block(heading, 'console'))) {
      const quick = faster(command, factor).replaceAll('npx leasehold', EXECUTED);
      const shown = timeless(await shell(quick, { LEASEHOLD_URL: stage.url }));
      const expected = timeless(faster(output, factor));
      played.push({ command, shown, expected });
      if (shown !== expected) return played;
    }
    return played;
  } finally {
    await stage.close();
  }
}

/** Until a process has printed this text. */
async function untilSaid(process: Said, wanted: string): Promise<void> {
  while (!process.out.includes(wanted)) {
    if (process.over !== undefined) throw new Error(`it ended: ${process.out} ${process.err}`);
    await pause(10);
  }
}
type Said = Pick<Process, 'out' | 'err' | 'over'>;

describe('the README', () => {
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
    const [, line] = /When the coordinator has printed `([^`]+)`/.exec(README) ?? [];
    if (line === undefined) throw new Error('the README names no line to wait for');
    await untilSaid(stage.serve(), line);
  });
  after(() => stage.close());

  it('starts with two commands that package.json knows', () => {
    const commands = block('leasehold', 'sh').split('\n');
    expect(commands.map((line) => line.split('#')[0]?.trim())).to.deep.equal([
      'npm ci && npm start',
      'npm ci && npm test',
    ]);
  });

  // The first on the log: its answers are told with their numbers.
  it('takes a task through its life with three lines of curl', async () => {
    const lines = block('leasehold', 'sh', 1).split('\n');
    expect(lines).to.have.length(3);
    const answers: Record<string, unknown>[] = [];
    for (const line of lines) {
      const answer = await shell(line.replace('5327', String(stage.port)));
      answers.push(JSON.parse(answer) as Record<string, unknown>);
    }
    expect(answers[0]).to.include({ task_id: 'T2', state: 'WAITING' });
    const { leases } = answers[1] as { leases: unknown[] };
    expect(leases[0]).to.include({ lease_id: 'L3', task_id: 'T2' });
    expect(answers[2]).to.include({ outcome: 'COMMITTED', task_state: 'COMPLETED' });
  });

  if (isPlayed('twice', LONG)) {
    it('shows a task that runs twice exactly as it does', async () => {
      let played: Shown[] = [];
      for (const factor of FASTER) {
        played = await playTwice(factor);
        if (played.every(({ shown, expected }) => shown === expected)) break;
      }
      for (const { command, shown, expected } of played) expect(shown, command).to.equal(expected);
      expect(played).to.have.length(7);
    });
  }

  let folders = 0;
  /** A module inside the package finds the package by its own name. */
  function ownFolder(): string {
    folders += 1;
    const folder = fileURLToPath(new URL(`./readme-${stage.port}-${folders}/`, import.meta.url));
    mkdirSync(folder);
    return folder;
  }

  function runModule(text: string): Process {
    const folder = ownFolder();
    const file = `${folder}worker.mjs`;
    writeFileSync(file, text.replaceAll('http://127.0.0.1:5327', stage.url));
    return stage.track(new Process([file], cleanEnv()), () => rmSync(folder, { recursive: true }));
  }

  it('has a loop of a worker that does a task', async () => {
    const worker = runModule(block('Write a worker', 'js', 0));
    await untilSaid(worker, 'attempt 1: a mail to a@example.org\nCOMMITTED\n');
    const { body } = await stage.call('GET', '/v1/tasks?request_id=order-17');
    expect((body['tasks'] as unknown[])[0]).to.include({ state: 'COMPLETED', queue: 'mail' });
    // It would take the tasks of those that follow.
    await worker.destroy();
  });

  it('has a Worker that does tasks, tells a permanent failure, and stops', async () => {
    const submitted = async (to: string): Promise<unknown> =>
      (await stage.submit({ queue: 'mail', payload: `{"to":"${to}"}` })).body['task_id'];
    const [good, bad] = [await submitted('a@example.org'), await submitted('nobody')];
    const worker = runModule(block('Write a worker', 'js', 1));
    await untilSaid(worker, 'attempt 1: a mail to a@example.org\n');
    for (const [id, state] of [
      [good, 'COMPLETED'],
      [bad, 'FAILED'],
    ]) {
      const { body } = await stage.call('GET', `/v1/tasks/${id}?wait_ms=50000`);
      expect(body['state']).to.equal(state);
    }
    worker.kill('SIGTERM');
    expect((await worker.ended).code).to.equal(0);
  });

  if (isPlayed('rehearsal', LONG)) {
    it('has a rehearsal that finds the Worker by its queue and LEASEHOLD_URL', async () => {
      const folder = ownFolder();
      try {
        writeFileSync(`${folder}worker.mjs`, block('Write a worker', 'js', 1));
        const command = block('Write a worker', 'sh', 1)
          .replaceAll(/worker\.mjs|payloads\.jsonl/g, (name) => `${folder}${name}`)
          .replaceAll('npx leasehold', EXECUTED);
        const shown = await shell(`${command} --scenario grant-lost`);
        expect(shown).to.match(/^undisturbed +kept\ngrant-lost +kept$/m);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }

  it('lets a command do a task', async () => {
    const sent = await stage.submit({ queue: 'mail', payload: 'to whom it may concern' });
    const [line = ''] = block('Write a worker', 'sh').split('\n');
    const command = /--exec '(.*)'$/.exec(line)?.[1];
    expect(command).to.equal('tr a-z A-Z');
    const args = line
      .replace(/ --exec .*/, '')
      .split(' ')
      .slice(2);
    const ran = await stage.run([...args, '--exec', String(command), '--once']);
    expect(ran.code, ran.err).to.equal(0);
    const { body } = await stage.call('GET', `/v1/tasks/${sent.body['task_id']}`);
    expect(body).to.include({ state: 'COMPLETED', result: 'TO WHOM IT MAY CONCERN' });
  });
});
