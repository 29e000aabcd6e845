// A backup over HTTP of a server that runs: of one alone, and of a node, which another one then
// goes on from. What breaks off on the way leaves nothing.

import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { encodeFrame } from '../../src/log/copy-wire.ts';
import { EXECUTABLE, Process } from '../../src/play/demo/processes.ts';
import { withEtcd } from '../support/etcd-cluster.ts';
import { cleanEnv } from '../support/server.ts';
import { ClusterStage } from './cluster-stage.ts';
import { Stage } from './support.ts';

describe('a backup over HTTP', function () {
  this.timeout(180_000);
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  const copy = (): string => path.join(stage.dir, 'copy');
  const backup = (url: string, ...more: string[]) =>
    stage.run(['backup', '--from', url, ...more, copy()]);

  it('is a whole copy, which a server goes on from', async () => {
    const token = path.join(stage.dir, 'token');
    writeFileSync(token, 'secret\n', { mode: 0o600 });
    const server = await stage.serve(['--token-file', token]).ready();
    const url = stage.url;
    const asked = await backup(url);
    expect([asked.code, asked.err]).to.deep.equal([
      1,
      `leasehold: ${url} answers 401: Give the token: Authorization: Bearer TOKEN.\n`,
    ]);
    const done = await backup(url, '--token-file', token);
    expect(done.code, done.err).to.equal(0);
    expect(done.out).to.include('holds 1 record,').and.to.include('leaves a gap');
    server.kill('SIGTERM');
    await server.ended;
    const verified = await stage.run(['verify', '--data-dir', copy()]);
    expect(verified.code, verified.err).to.equal(0);
    const own = await stage.run(['log', '--data-dir', stage.dataDir]);
    expect((await stage.run(['log', '--data-dir', copy()])).out).to.equal(own.out);
    const again = await backup(url, '--token-file', token);
    expect(again.err).to.include('is not empty; choose a new directory');
  });

  it('says what is wrong, and leaves nothing', async () => {
    const bad = await backup('unix:/x');
    expect([bad.code, bad.err]).to.deep.equal([
      2,
      'leasehold: --from: "unix:/x" is not http://host:port or https://…\n',
    ]);
    const none = await backup('http://127.0.0.1:1');
    expect(none.code).to.equal(3);
    expect(none.err).to.include('ECONNREFUSED');
    const server = http.createServer((_, reply) => {
      reply.write(encodeFrame({ kind: 'begin', begin: { format: 1, last: 9 } }));
      setImmediate(() => reply.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cut = await backup(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect(cut.code).to.equal(1);
    expect(cut.err).to.match(/the connection broke off \(.+\); nothing was left in .*copy/);
    await stage.serve().ready();
    const alone = await backup(stage.url, '--node');
    expect(alone.err).to.include('CLUSTER_MIRROR: --node copies the log of a node');
    expect(readdirSync(stage.dir).filter((name) => name.startsWith('copy'))).to.deep.equal([]);
    expect(existsSync(copy())).to.equal(false);
  });
});

/** A server that begins to send a log, and then says nothing more. */
async function stalling(): Promise<{ readonly url: string; close(): void }> {
  const part = { ordinal: 1, generation: 1, dropped: [], removedAt: 0 };
  const server = http.createServer((_, reply) => {
    reply.write(encodeFrame({ kind: 'begin', begin: { format: 1, last: 9 } }));
    reply.write(encodeFrame({ kind: 'part', part }));
    reply.write(encodeFrame({ kind: 'rows', rows: [[1, Buffer.from('x')]] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

describe('a backup over HTTP that is ended', () => {
  let stage: Stage;
  let server: Awaited<ReturnType<typeof stalling>>;
  beforeEach(async () => {
    stage = await Stage.open();
    server = await stalling();
  });
  afterEach(async () => {
    server.close();
    await stage.close();
  });

  const left = (): string[] => readdirSync(stage.dir).filter((name) => name.startsWith('copy'));

  /** Resolves when the copy is under way. */
  async function begun(): Promise<Process> {
    const args = [EXECUTABLE, 'backup', '--from', server.url, path.join(stage.dir, 'copy')];
    const backup = stage.track(new Process(args, cleanEnv(), stage.dir), () => {});
    while (left().length === 0 && backup.over === undefined) await pause(10);
    return backup;
  }

  it('leaves nothing when a signal ends it, and says so', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const backup = await begun();
      expect(left()).to.have.length(1);
      backup.kill(signal);
      expect((await backup.ended).code).to.equal(code);
      const target = path.join(stage.dir, 'copy');
      expect(backup.err).to.equal(`leasehold: interrupted; nothing was left in ${target}\n`);
      expect(left()).to.deep.equal([]);
    }
  });

  it('is taken away by the next one when it was killed, and not while it lives', async () => {
    const living = await begun();
    const [part = ''] = left();
    const args = ['backup', '--from', server.url, path.join(stage.dir, 'copy')];
    const second = await stage.run(args);
    expect([second.code, left()]).to.deep.equal([1, [part]]);
    expect(second.err).to.include('LOG_LOCKED: another process is making a copy into');
    living.kill('SIGKILL');
    await living.ended;
    expect(left()).to.deep.equal([part]);
    await stage.serve().ready();
    const third = await stage.run(['backup', '--from', stage.url, path.join(stage.dir, 'copy')]);
    expect(third.code, third.err).to.equal(0);
    expect(third.err).to.include(`removed ${path.join(stage.dir, part)}, the rest of a copy`);
    expect(left()).to.deep.equal(['copy']);
  });
});

withEtcd('a backup over HTTP of a node', { members: 1 }, (etcd) => {
  let stage: ClusterStage;
  beforeEach(async () => {
    stage = await ClusterStage.open(etcd(), ['a', 'b', 'c']);
    stage.node('c').kill('SIGTERM');
    await stage.node('c').ended;
  });
  afterEach(() => stage.close());

  it('is what a further node goes on from, whichever node is asked', async function () {
    this.timeout(180_000);
    const leader = await stage.leader();
    const follower = leader === 'a' ? 'b' : 'a';
    await stage.ask(leader, '/v1/tasks', { payload: 'p' });
    await stage.follows(follower);
    const target = stage.dataDir('c');
    rmSync(target, { recursive: true, force: true });
    const args = ['--node', '--from', stage.url(follower), target];
    const done = await stage.command('backup', ...args);
    expect(done.code, done.err).to.equal(0);
    expect(done.out).to.include('To run a node on it');
    const kept = `kept for a copy of the log that ${follower} sends or has sent`;
    await stage.until('the copy is held', async () => {
      return (await stage.run('status')).out.includes(kept) || undefined;
    });
    await stage.ask(leader, '/v1/tasks', { payload: 'q' });
    stage.start('c');
    await stage.follows('c');
    expect((await stage.run('status')).out).to.not.include('kept for');
    await stage.compared();
  });
});
