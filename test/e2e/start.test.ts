// The start of the real executable: what it says, what it refuses, and what needs no clean-up.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { command } from '../support/command.ts';
import { ownPort } from '../support/own-port.ts';
import { cleanEnv, type Fields, type Server } from '../support/server.ts';
import { until } from '../support/waiting.ts';
import { logLines, Stage } from './support.ts';

describe('serve, at its start', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  const written = (): string[] => (existsSync(stage.dataDir) ? readdirSync(stage.dataDir) : []);

  it('refuses a knob, naming it, and writes nothing', async () => {
    const server = stage.serve(['--lease-duration-ms', '10 s']);
    expect((await server.ended).code).to.equal(2);
    expect(server.err).to.include('--lease-duration-ms');
    expect(written()).to.deep.equal([]);
  });

  for (const [flag, value] of [
    ['--http-port', '65536'],
    ['--heartbeat-interval-ms', '15001'],
    ['--http-host', '0.0.0.0'],
    ['--token-file', 'gone'],
    ['--config', 'gone'],
    ['--no-such-knob', '1'],
  ] as const) {
    it(`refuses ${flag} ${value}, naming it, and writes nothing`, async () => {
      const args = ['serve', '--data-dir', stage.dataDir, flag, value];
      const { code, err } = await command(args, { env: cleanEnv() });
      expect(code).to.equal(2);
      expect(err).to.include(flag);
      expect(written()).to.deep.equal([]);
    });
  }

  it('is refused on a Unix socket that cannot be, by its path', async () => {
    const file = path.join(stage.dir, 'afile');
    writeFileSync(file, 'x');
    for (const [socketPath, why] of [
      [file, 'exists and is no socket'],
      [path.join(file, 'x.sock'), 'a part of the path is a file (ENOTDIR)'],
    ] as const) {
      const server = stage.serve(['--socket-path', socketPath]);
      expect((await server.ended).code).to.equal(1);
      expect(server.err).to.include(file).and.include(why);
    }
  });

  it('is refused on a data directory that is a file', async () => {
    const file = path.join(stage.dir, 'afile');
    writeFileSync(file, 'x');
    const server = stage.serve([], { dataDir: file });
    expect((await server.ended).code).to.equal(1);
    expect(server.err).to.include('afile');
  });
});

describe('serve, in lives on one log', () => {
  // A start takes a second of a processor, so each of these goes on with the server before it.
  let stage: Stage;
  let server: Server;
  const tasks: unknown[] = [];
  before(async () => {
    stage = await Stage.open();
    mkdirSync(stage.dataDir); // As somebody makes it beforehand, who gives it to a user.
    server = await stage.serve(['--lease-duration-ms', '9000']).ready();
  });
  after(() => stage.close());

  /** A server may answer before all that it said has come here. */
  async function aboutTheLog(server: Server): Promise<Fields> {
    const lines = (): Fields[] => logLines(server).filter(({ msg }) => String(msg).includes('log'));
    await until('it says where the log is', () => lines().length > 0);
    return lines()[0] as Fields;
  }

  async function submits(): Promise<void> {
    const { status, body } = await stage.submit();
    expect(status).to.equal(201);
    tasks.push(body['task_id']);
  }

  it('says where the log is, that it is new, and every knob with its source', async () => {
    const start = await aboutTheLog(server);
    expect(start['msg']).to.equal(`created new log, in ${stage.dataDir}`);
    expect(start['knobs']).to.include({ lease_duration_ms: 9_000, heartbeat_interval_ms: 3_000 });
    expect(start['given']).to.include({ lease_duration_ms: 'flag', data_dir: 'flag' });
    await submits();
  });

  it('is refused on a data directory or a port in use, while its user is stopped too', async () => {
    for (const signal of ['SIGSTOP', 'SIGCONT'] as const) {
      server.kill(signal);
      const second = stage.serve([], { port: await ownPort() });
      expect((await second.ended).code, 'a restart cannot help').to.equal(6);
      expect(second.err)
        .to.match(/in use|locked|another/i)
        .and.include(stage.dataDir);
    }
    const third = stage.serve([], { dataDir: path.join(stage.dir, 'other') });
    expect((await third.ended).code).to.equal(1);
    const sentence = `cannot listen at 127.0.0.1:${stage.port}: the address is in use (EADDRINUSE)`;
    expect(third.err).to.include(sentence).and.include('--http-port');
    expect(existsSync(path.join(stage.dir, 'other'))).to.equal(false);
    await submits(); // It serves on.
  });

  it('opens the log, with knobs from the environment and a file', async () => {
    server.kill('SIGTERM');
    expect(await server.ended).to.deep.equal({ code: 0, signal: null });
    const file = path.join(stage.dir, 'knobs.json');
    writeFileSync(file, JSON.stringify({ max_retries: 7, tick_ms: 20 }));
    const env = { LEASEHOLD_LEASE_DURATION: '1s', LEASEHOLD_LEASE_DURATION_MS: '7s' };
    server = await stage.serve(['--config', file], { env }).ready();
    const start = await aboutTheLog(server);
    expect(start['msg']).to.equal(`opened log, 3 records, in ${stage.dataDir}`);
    expect(server.err).to.include('LEASEHOLD_LEASE_DURATION has no meaning');
    const { body } = await stage.call('GET', '/v1/config');
    expect(body).to.deep.include({
      max_retries: { value: 7, source: 'file' },
      backoff_ms: { value: 30_000, source: 'default' },
      lease_duration_ms: { value: 7_000, source: 'env' },
    });
    await submits();
  });

  it('needs no clean-up after kill -9, in its directory as it was left', async () => {
    for (let life = 3; life <= 4; life++) {
      server.kill('SIGKILL');
      await server.ended;
      server = await stage.serve().ready();
      for (const task of tasks) {
        expect((await stage.call('GET', `/v1/tasks/${task}`)).body['state']).to.equal('WAITING');
      }
      const all = await stage.records();
      const starts = all.filter(({ type }) => type === 'CoordinatorStarted');
      expect(starts).to.have.length(life);
      await submits();
    }
  });
});
