// An operator restores an old snapshot of etcd while nodes run on it: nobody tells anything that
// contradicts what was acknowledged, all nodes end in words, and the longest log goes on.

import path from 'node:path';
import { expect } from 'chai';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { needEtcdctl, restoreSnapshot, saveSnapshot } from '../support/etcd-snapshot.ts';
import { inTurn } from '../support/tier.ts';
import { ClusterStage } from './cluster-stage.ts';

withEtcd('nodes over a restored etcd', { members: 1 }, (etcd: () => EtcdCluster) => {
  let stage: ClusterStage | undefined;
  const cases: (readonly [title: string, play: () => Promise<void>])[] = [];
  const played = (title: string, play: () => Promise<void>): void => {
    cases.push([title, play]);
  };
  before(function () {
    needEtcdctl(this);
  });
  afterEach(() => stage?.close());

  async function submitted(leader: string, payload: string): Promise<unknown> {
    const answer = await stage?.ask(leader, '/v1/tasks', { payload });
    expect(answer).to.include({ status: 201 });
    return answer?.body['task_id'];
  }

  played('halt, and go on from the longest log', async () => {
    stage = await ClusterStage.open(etcd());
    const snapshot = path.join(stage.dir, 'snapshot');
    const leader = await stage.leader();
    const next = leader === 'a' ? 'b' : 'a';
    await submitted(leader, 'kept by etcd');
    saveSnapshot(etcd(), snapshot);
    const lost = await submitted(leader, 'not known to etcd any more');
    await stage.follows(next);
    await restoreSnapshot(etcd(), snapshot);
    const told = await stage.ask(leader, `/v1/tasks/${String(lost)}`);
    if (told !== undefined) expect(told.body).to.include({ outcome: 'UNAVAILABLE' });
    for (const node of [leader, next]) {
      const { code } = await stage.node(node).ended;
      expect(code, stage.node(node).err).to.equal(6);
      expect(stage.node(node).err).to.include('LOG_SET_BACK').and.not.include('follows when');
    }
    const init = await stage.run('init', '--from', stage.dataDir(leader));
    expect(init.code, init.err).to.equal(0);
    stage.start(leader);
    expect(await stage.leader()).to.equal(leader);
    const found = await stage.ask(leader, `/v1/tasks/${String(lost)}`);
    expect(found?.body).to.include({ payload: 'not known to etcd any more' });
  });

  played('end also when nobody asks them for anything', async () => {
    stage = await ClusterStage.open(etcd());
    const snapshot = path.join(stage.dir, 'snapshot');
    const leader = await stage.leader();
    saveSnapshot(etcd(), snapshot);
    await submitted(leader, 'p');
    await stage.follows(leader === 'a' ? 'b' : 'a');
    await restoreSnapshot(etcd(), snapshot);
    for (const node of ['a', 'b']) {
      expect((await stage.node(node).ended).code, stage.node(node).err).to.equal(6);
    }
  });

  played('go on when nothing had been written since', async () => {
    stage = await ClusterStage.open(etcd());
    const snapshot = path.join(stage.dir, 'snapshot');
    const leader = await stage.leader();
    const next = leader === 'a' ? 'b' : 'a';
    await submitted(leader, 'p');
    await stage.follows(next);
    saveSnapshot(etcd(), snapshot);
    await restoreSnapshot(etcd(), snapshot);
    const client = stage.client();
    await client.submit({ payload: 'q' });
    client.close();
    for (const node of ['a', 'b']) expect(stage.node(node).err).not.to.include('LOG_SET_BACK');
    await stage.compared();
  });

  for (const [title, play] of inTurn(cases)) it(title, play);
});
