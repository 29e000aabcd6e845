// Every example runs, as its reader would run it, and does what its first lines say.

import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { sharedServer } from '../client/real-server.ts';
import { skip } from '../support/skip.ts';

/** Those that are no TypeScript travel with the package, and are run from where they stand. */
const source = (name: string): string => `docs/examples/${name}`;
const built = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

async function run(command: string, args: string[], options: SpawnOptions = {}) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (text) => {
    out += text;
  });
  child.stderr?.on('data', (text) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/** A worker of bash takes half a second for a task where a machine is busy. */
const LEASE_MS = 4_000;

describe('examples', () => {
  const server = sharedServer('--lease-duration-ms', `${LEASE_MS}`, '--backoff-ms', '0');
  let client: Client;
  before(() => {
    client = new Client({ url: server.tcp });
  });
  after(() => client.close());
  const example = (name: string, url: string) =>
    run(process.execPath, [built(name)], { env: { ...process.env, LEASEHOLD_URL: url } });

  it('the contract by hand', async () => {
    const { taskId } = await client.submit({ queue: 'greet', payload: { name: 'Ada' } });
    const { code, out, err } = await example('loop', server.tcp);
    expect(code, err).to.equal(0);
    expect(out).to.equal(`${taskId} COMMITTED\n`);
    expect(String((await client.task(taskId)).result)).to.equal('Hello, Ada!');
  });

  it('a Worker, and all that it says and hears', async () => {
    const ada = await client.submit({ queue: 'greet', payload: { name: 'Ada' } });
    const none = await client.submit({ queue: 'greet', payload: {} });
    const { code, out, err } = await example('worker', server.http);
    expect(code, err).to.equal(0);
    expect(out.trim().split('\n')).to.have.members([
      `${ada.taskId} COMMITTED`,
      `${none.taskId} nobody to greet`,
    ]);
    for (const said of ['request lease', 'answer lease', 'request complete', 'answer fail']) {
      expect(err).to.contain(said);
    }
  });

  it('submit, once', async () => {
    const [submitted] = await Promise.all([
      example('submit', server.http),
      example('loop', server.tcp),
    ]);
    expect(submitted.out, submitted.err).to.equal('true true\nCOMPLETED Hello, Ada!\n');
  });

  it('a worker in plain Python, over the socket, for longer than its lease', async function () {
    if (spawnSync('python3', ['--version']).status !== 0) skip(this, 'python3 is missing');
    const queue = 'python';
    const seconds = (LEASE_MS * 1.25) / 1_000;
    const long = await client.submit({ queue, payload: { add: [1, 2, 39], seconds } });
    const wrong = await client.submit({ queue, payload: 'no JSON' });
    const args = [source('worker.py'), '127.0.0.1', `${server.socketPort}`, queue];
    const { code, out, err } = await run('python3', args);
    expect(code, err).to.equal(0);
    expect(out).to.equal(`${long.taskId} COMMITTED\n${wrong.taskId} COMMITTED\n`);
    const task = await client.task(long.taskId);
    expect(task).to.include({ state: 'COMPLETED', attempt: 1 });
    expect(String(task.result)).to.equal('42');
    expect(await client.task(wrong.taskId)).to.include({ state: 'FAILED', attempt: 1 });
  });

  it('a worker in the shell', async function () {
    if (spawnSync('bash', ['--version']).status !== 0) skip(this, 'bash is missing');
    const payload = 'quiet, "please"\n';
    const { taskId } = await client.submit({ queue: 'shell', payload });
    const args = [source('worker.sh'), '127.0.0.1', `${server.socketPort}`, 'shell'];
    const { out, err } = await run('bash', args);
    expect(out, err).to.equal(`${taskId} COMMITTED\n`);
    expect(String((await client.task(taskId)).result)).to.equal('QUIET, "PLEASE"\n');
    const { status, stderr } = spawnSync('bash', args.slice(0, 1), { encoding: 'utf8' });
    expect([status, stderr]).to.deep.equal([2, 'usage: worker.sh HOST PORT QUEUE\n']);
  });

  it('the workers in README.md', async () => {
    const readme = readFileSync('README.md', 'utf8');
    const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => String(code));
    expect(blocks).to.have.length(2);
    for (const [index, code] of blocks.entries()) {
      // Within the package: there its own name means this very build.
      const file = fileURLToPath(new URL(`./readme-${index}.mjs`, import.meta.url));
      writeFileSync(file, code.replaceAll('http://127.0.0.1:5327', server.http));
      const queue = 'mail';
      const { taskId } = await client.submit({ queue, payload: { to: 'b@example.org' } });
      const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'inherit'] });
      const { state, result } = await client.task(taskId, { waitMs: 60_000 });
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
      expect([state, String(result)]).to.deep.equal(['COMPLETED', 'sent']);
    }
  });

  for (const name of ['loop.ts', 'worker.ts', 'submit.ts']) {
    it(`docs/WORKERS.md shows ${name} as it runs`, () => {
      const shown = readFileSync('docs/WORKERS.md', 'utf8');
      // Without its first lines, which say what the page says around it.
      const [, code] =
        /\n\n(import [\s\S]*)$/.exec(readFileSync(`test/examples/${name}`, 'utf8')) ?? [];
      expect(shown).to.contain(String(code));
    });
  }
});
