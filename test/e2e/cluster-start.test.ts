// What a node of a cluster refuses at its start, and in which words; how a cluster is made, out of
// nothing or out of a server; and what an operator may ask of it.

import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { ServerProcess } from '../../src/play/demo/processes.ts';
import { MovedClock } from '../reliability/moved-clock.ts';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { inTurn } from '../support/tier.ts';
import { ClusterStage } from './cluster-stage.ts';

withEtcd('the start of a cluster', {}, (etcd: () => EtcdCluster) => {
  let stage: ClusterStage;
  const cases: (readonly [title: string, play: () => Promise<void>])[] = [];
  const played = (title: string, play: () => Promise<void>): void => {
    cases.push([title, play]);
  };
  afterEach(() => stage.close());

  /** @returns what the node says as it ends; it must not be started again by itself. */
  async function refused(node: ServerProcess): Promise<string> {
    const { code } = await node.ended;
    expect(code, node.err).to.equal(6);
    return node.err;
  }

  played('is refused where there is no such cluster, and with another name', async () => {
    stage = await ClusterStage.open(etcd(), ['a'], false);
    expect(await refused(stage.start('a'))).to.include(
      `CLUSTER_UNKNOWN: etcd holds no cluster named ${stage.name}`,
    );
    await stage.run('init');
    stage.start('a');
    await stage.leader();
    stage.node('a').kill('SIGTERM');
    expect((await stage.node('a').ended).code).to.equal(0);
    expect(await refused(stage.start('a', ['--cluster-name', 'others']))).to.include(
      `${stage.dataDir('a')} belongs to the cluster ${stage.name} and not to others`,
    );
  });

  played('is refused on a copy of another log, and a server alone on any copy', async () => {
    stage = await ClusterStage.open(etcd(), ['a']);
    const leader = await stage.leader();
    stage.node(leader).kill('SIGTERM');
    await stage.node(leader).ended;
    const alone = await stage.command('serve', '--data-dir', stage.dataDir('a'), '--http-port=0');
    // The environment names etcd: this is a node, without its name.
    expect(alone.err).to.include('--node-name is needed for a node of a cluster');
    const other = await ClusterStage.open(etcd(), ['a'], false);
    await other.run('init');
    rmSync(other.dataDir('a'), { recursive: true, force: true });
    const renamed = stage.start('a', ['--cluster-name', other.name]);
    expect(await refused(renamed)).to.include('CLUSTER_MIRROR');
    await other.close();
    const server = stage.startAlone(stage.dataDir('a'));
    expect(await refused(server)).to.include(
      `holds the log of a node of the cluster ${stage.name}`,
    );
  });

  played('is refused with other settings than the cluster has agreed on', async () => {
    stage = await ClusterStage.open(etcd(), ['a'], false);
    await stage.run('init', '--lease-duration-ms', '20s');
    expect(await refused(stage.start('a'))).to.include(
      'CLUSTER_KNOBS: --lease-duration-ms is 30000 here and 20000 in the cluster',
    );
    const agreed = await stage.run('agree');
    expect(agreed.code).to.equal(0);
    expect(agreed.out).to.include('lease_duration_ms: 20000 before, 30000 now\n');
    expect((await stage.run('agree')).out).to.include('nothing changes');
    stage.start('a');
    await stage.leader();
  });

  played('is refused under the name of a node that runs', async () => {
    stage = await ClusterStage.open(etcd(), ['a', 'b'], false);
    await stage.run('init');
    stage.start('a');
    await stage.leader();
    expect(await refused(stage.start('b', ['--node-name', 'a']))).to.include(
      `NODE_NAME: another node named a runs, at ${stage.url('a')}`,
    );
    // A directory that is copied with all that is in it makes the same node, twice.
    const older = stage.node('a');
    rmSync(stage.dataDir('b'), { recursive: true, force: true });
    cpSync(stage.dataDir('a'), stage.dataDir('b'), { recursive: true });
    stage.start('b', ['--node-name', 'a']);
    expect(await refused(older)).to.include(
      `NODE_NAME: another node named a runs, at ${stage.url('b')}, on a copy of the directory`,
    );
    expect(await stage.leader()).to.equal('b');
  });

  played('waits for an etcd that does not answer, alive and in words', async () => {
    stage = await ClusterStage.open(etcd(), ['a'], false);
    await stage.run('init');
    for (const member of [0, 1]) await etcd().kill(member);
    const node = stage.start('a');
    const first = await stage.until('it listens', () => stage.ask('a', '/v1/cluster'));
    expect(first.body).to.include({ role: 'follower', node: 'a', epoch: 0 });
    await stage.until('it says so', () => node.out.includes('etcd does not answer') || undefined);
    expect(await stage.ask('a', '/livez')).to.include({ status: 200 });
    expect(await stage.ask('a', '/readyz')).to.have.nested.property('body.reason', 'not_leader');
    expect((await stage.ask('a', '/v1/cluster'))?.body).to.have.property('trouble');
    for (const member of [0, 1]) await etcd().restart(member);
    await stage.leader();
    node.kill('SIGTERM');
    expect((await node.ended).code).to.equal(0);
  });

  played('ends at once while it waits for an etcd that does not answer', async () => {
    stage = await ClusterStage.open({ urls: ['http://127.0.0.1:9'] }, ['a'], false);
    const node = stage.start('a', ['--lease-duration-ms', '5s']);
    await stage.until('it says so', () => node.out.includes('etcd does not answer') || undefined);
    expect(node.out).to.include('leases may run out while another node takes over');
    node.kill('SIGTERM');
    expect((await node.ended).code).to.equal(0);
  });

  played('goes on with the log of a server, which never starts alone again', async () => {
    stage = await ClusterStage.open(etcd(), ['a', 'b'], false);
    const dir = stage.dataDir('a');
    const server = stage.startAlone(dir);
    await server.ready();
    await fetch(`${server.url}/v1/tasks`, { method: 'POST', body: '{"payload":"kept"}' });
    expect((await stage.run('init', '--from', dir)).err).to.include('LOG_LOCKED');
    server.kill('SIGTERM');
    await server.ended;
    expect(await refused(stage.start('a'))).to.include('CLUSTER_UNKNOWN');
    expect((await stage.run('init', '--from', dir)).out).to.include('ends with record 2');
    expect((await stage.run('init', '--from', dir)).err).to.include('CLUSTER_EXISTS');
    expect(await refused(stage.startAlone(dir))).to.include('CLUSTER_MIRROR');
    // An empty node lacks what etcd never held.
    expect(await refused(stage.start('b'))).to.include('LOG_BEHIND');
    rmSync(stage.dataDir('b'), { recursive: true });
    const copy = ['backup', '--node', '--data-dir', dir, stage.dataDir('b')];
    expect((await stage.command(...copy)).out).to.include('To run a node on it');
    for (const node of ['a', 'b']) stage.start(node);
    const leader = await stage.leader();
    await stage.follows(leader === 'a' ? 'b' : 'a');
    const made = await stage.ask(leader, '/v1/tasks', { payload: 'new' });
    expect(Number(made?.body['record'])).to.be.greaterThan(1_000_000);
    expect((await stage.ask(leader, '/v1/tasks/T2'))?.body).to.include({ payload: 'kept' });
    const records = await stage.compared();
    // On a busy machine another node may have taken over once more.
    expect(records.filter(({ type }) => type === 'TaskCreated')).to.have.length(2);
    expect(records).to.have.length.of.at.least(4);
  });

  played('a directory of a server is refused with the command that converts it', async () => {
    stage = await ClusterStage.open(etcd(), ['a'], false);
    const server = stage.startAlone(stage.dataDir('a'));
    await server.ready();
    server.kill('SIGTERM');
    await server.ended;
    await stage.run('init');
    const said = await refused(stage.start('a'));
    expect(said).to.include(`leasehold cluster init --from ${stage.dataDir('a')}`);
  });

  played('of a node that cannot lead is tried again, without ending, until it can', async () => {
    stage = await ClusterStage.open(etcd(), ['a']);
    await stage.leader();
    const before = stage.node('a');
    before.kill('SIGTERM');
    await before.ended;
    // Nothing was heard since this machine started, so that the wall clock counts.
    rmSync(path.join(stage.dataDir('a'), 'heard.json'), { force: true });
    const clock = new MovedClock(stage.dir);
    clock.move(400 * 86_400_000);
    const node = stage.start('a', [], clock.env);
    const refusals = (): number => node.out.split('could not begin to lead').length - 1;
    await stage.until('it was refused twice', () => refusals() >= 2 || undefined);
    expect(node.out).to.include('NOT_STARTED: the clock says');
    expect(await stage.ask('a', '/livez')).to.include({ status: 200 });
    clock.move(-400 * 86_400_000);
    await stage.leader();
    expect(node.over).to.equal(undefined);
    await stage.compared();
  });

  played('shows its nodes, and forgets one that is gone', async () => {
    stage = await ClusterStage.open(etcd(), ['a', 'b']);
    const leader = await stage.leader();
    const gone = leader === 'a' ? 'b' : 'a';
    await stage.follows(gone);
    expect((await stage.run('forget-node', gone)).err).to.include(`${gone} runs; stop it first`);
    stage.node(gone).kill('SIGTERM');
    await stage.node(gone).ended;
    expect((await stage.run('step-down')).err).to.include('no node could take over');
    expect((await stage.run('status')).out).to.match(new RegExp(`${leader} leads, at http`));
    expect((await stage.run('forget-node', gone)).code).to.equal(0);
    expect((await stage.run('forget-node', gone)).err).to.include(`has no node ${gone}`);
    const { nodes, alarms } = JSON.parse((await stage.run('status', '--json')).out);
    expect(nodes.map(({ node }: { node: string }) => node)).to.deep.equal([leader]);
    expect(alarms).to.deep.equal([]);
    expect((await stage.run('free')).out).to.include('0 groups of records were deleted');
  });

  played('halts when etcd was set back, and goes on from the longest log', async () => {
    stage = await ClusterStage.open(etcd(), ['a', 'b']);
    const leader = await stage.leader();
    const next = leader === 'a' ? 'b' : 'a';
    for (let n = 0; n < 5; n += 1) await stage.ask(leader, '/v1/tasks', { payload: `${n}` });
    await stage.follows(next);
    for (const node of [leader, next]) stage.node(node).kill('SIGTERM');
    for (const node of [leader, next]) await stage.node(node).ended;
    await stage.setBack();
    expect(await refused(stage.start(leader))).to.include('etcd was set back');
    expect(await refused(stage.start(next))).to.include('LOG_SET_BACK');
    expect((await stage.run('status')).out).to.include('HALTED');
    expect((await stage.run('init')).err).to.include('it is halted');
    const from = await stage.run('init', '--from', stage.dataDir(leader));
    expect(from.code, from.err).to.equal(0);
    for (const node of [leader, next]) stage.start(node);
    await stage.leader();
    await stage.compared();
  });

  for (const [title, play] of inTurn(cases)) it(title, play);
});
