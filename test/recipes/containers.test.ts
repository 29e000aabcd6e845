// The container and the manifest of docs/RECIPES.md. The image is built and run where a builder
// answers; what the manifest says of settings, probes and signals is tried on the executable.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../src/index.ts';
import { MAIN } from '../client/real-server.ts';
import { ownPort } from '../support/own-port.ts';
import { skip } from '../support/skip.ts';
import { endPrograms, Program } from './program.ts';

const TOKEN = 'a-token-of-the-tests';
const manifest = fs.readFileSync('docs/examples/kubernetes.yaml', 'utf8');
const [, statefulSet = '', deployment = ''] = manifest.split(/^---$/m);

/** The variables of a container whose values stand in the manifest. */
const envOf = (part: string): Record<string, string> =>
  Object.fromEntries(
    [...part.matchAll(/- name: (LEASEHOLD_\w+)\n\s+value: (\S+)/g)].map(([, name, value]) => [
      String(name),
      String(value),
    ]),
  );

/** What Kubernetes adds for a service of this name, unless it is told not to. */
const SERVICE_LINKS = {
  LEASEHOLD_SERVICE_HOST: '10.0.0.7',
  LEASEHOLD_SERVICE_PORT: '5327',
  LEASEHOLD_SERVICE_PORT_HTTP: '5327',
  LEASEHOLD_PORT: 'tcp://10.0.0.7:5327',
  LEASEHOLD_PORT_5327_TCP: 'tcp://10.0.0.7:5327',
  LEASEHOLD_PORT_5327_TCP_ADDR: '10.0.0.7',
};

const status = async (url: string): Promise<number> =>
  fetch(url).then(
    (answer) => answer.status,
    () => 0,
  );

describe('the recipes for containers', function () {
  this.timeout(600_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-container-'));
  afterEach(endPrograms);
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('the coordinator starts with the settings of the manifest, beside service links', async () => {
    const env = envOf(statefulSet);
    expect(env).to.have.keys('LEASEHOLD_DATA_DIR', 'LEASEHOLD_HTTP_HOST', 'LEASEHOLD_SOCKET_HOST');
    const port = await ownPort();
    const server = new Program(process.execPath, [MAIN, 'serve'], {
      PATH: process.env['PATH'],
      ...SERVICE_LINKS,
      ...env,
      LEASEHOLD_TOKEN: TOKEN,
      LEASEHOLD_DATA_DIR: path.join(folder, 'data'),
      LEASEHOLD_HTTP_PORT: `${port}`,
      LEASEHOLD_SOCKET_PORT: `${await ownPort()}`,
    });
    await server.line(/"ready"/);
    const probes = [...statefulSet.matchAll(/httpGet: \{ path: (\S+),/g)].map(([, at]) => at);
    expect(probes).to.deep.equal(['/readyz', '/livez']);
    for (const at of probes) expect(await status(`http://127.0.0.1:${port}${at}`)).to.equal(200);
    expect(await status(`http://127.0.0.1:${port}/v1/stats`)).to.equal(401);
    const from = performance.now();
    expect(await server.end()).to.equal(0);
    const [, graceSeconds] = /terminationGracePeriodSeconds: (\d+)/.exec(statefulSet) ?? [];
    expect(performance.now() - from).to.be.below(Number(graceSeconds) * 1_000);
  });

  it('the coordinator refuses to listen on all addresses without a token', async () => {
    const server = new Program(process.execPath, [MAIN, 'serve'], {
      PATH: process.env['PATH'],
      ...envOf(statefulSet),
      LEASEHOLD_DATA_DIR: path.join(folder, 'none'),
    });
    expect(await server.ended(), server.lines.join('\n')).to.equal(2);
  });

  it('the manifest asks for what the recipe says', () => {
    for (const part of [statefulSet, deployment]) {
      expect(part).to.include('enableServiceLinks: false').and.include('runAsNonRoot: true');
      expect(part).to.include('key: token').and.include('readOnlyRootFilesystem: true');
    }
    expect(statefulSet).to.include('replicas: 1').and.include('ReadWriteOncePod');
    expect(envOf(deployment)).to.deep.equal({ LEASEHOLD_URL: 'http://leasehold:5327' });
  });

  it('the image is built, serves, keeps its volume, and ends at TERM', async function () {
    const builder = ['docker', 'podman'].find((name) => spawnSync(name, ['info']).status === 0);
    if (builder === undefined) skip(this, 'neither docker nor podman answers');
    const run = (...args: string[]): string => {
      const ran = spawnSync(builder, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
      expect(ran.status, `${args[0]}: ${ran.stdout}${ran.stderr}`).to.equal(0);
      return ran.stdout.trim();
    };
    const file = fs.readFileSync('docs/examples/Containerfile', 'utf8');
    const [, base = ''] = /^FROM (\S+) AS build$/m.exec(file) ?? [];
    if (spawnSync(builder, ['pull', base]).status !== 0) skip(this, `${base} cannot be pulled`);
    const tag = `leasehold-test-${process.pid}`;
    run('build', '-f', 'docs/examples/Containerfile', '-t', tag, '.');
    const port = await ownPort();
    const url = `http://127.0.0.1:${port}`;
    const start = async (): Promise<void> => {
      const how = ['-d', '--init', '--name', tag, '-v', `${tag}:/var/lib/leasehold`];
      const where = ['-p', `127.0.0.1:${port}:5327`, '-e', `LEASEHOLD_TOKEN=${TOKEN}`];
      run('run', ...how, ...where, tag);
      while ((await status(`${url}/readyz`)) !== 200) await pause(200);
    };
    const client = new Client({ url, token: TOKEN });
    try {
      await start();
      expect(run('exec', tag, 'id', '-u')).to.equal('1000');
      const { taskId } = await client.submit({ payload: 'a' });
      run('stop', '--time', '10', tag);
      expect(run('inspect', '--format', '{{.State.ExitCode}}', tag)).to.equal('0');
      run('rm', tag);
      await start();
      expect((await client.task(taskId)).state).to.equal('WAITING');
    } finally {
      client.close();
      for (const args of [
        ['rm', '-f', tag],
        ['volume', 'rm', tag],
        ['rmi', tag],
      ]) {
        spawnSync(builder, args);
      }
    }
  });
});
