// Three real nodes: one leads, and of the two that follow, one takes over. All three hold the same
// log afterwards, record by record.

import { expect } from 'chai';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { inTurn } from '../support/tier.ts';
import { ClusterStage, expectEachOnce, Submitters } from './cluster-stage.ts';

const NODES = ['a', 'b', 'c'];

withEtcd('a cluster of three nodes', {}, (etcd: () => EtcdCluster) => {
  let stage: ClusterStage;
  const cases: (readonly [title: string, play: () => Promise<void>])[] = [];
  const played = (title: string, play: () => Promise<void>): void => {
    cases.push([title, play]);
  };
  beforeEach(async () => {
    stage = await ClusterStage.open(etcd(), NODES);
  });
  afterEach(() => stage.close());

  /** Resolves when this node leads and all others that run follow its lead. */
  async function whole(leader: string): Promise<void> {
    const epoch = (await stage.ask(leader, '/v1/cluster'))?.body['epoch'];
    for (const node of NODES.filter((one) => one !== leader)) {
      await stage.until(`${node} follows ${leader}`, async () => {
        const view = await stage.follows(node);
        return view['epoch'] === epoch || undefined;
      });
    }
  }

  played('one that follows dies, then the one that leads, then the next that leads', async () => {
    const load = new Submitters(stage, 4);
    const first = await stage.leader();
    await whole(first);
    const [dying, staying] = NODES.filter((node) => node !== first) as [string, string];
    stage.node(dying).kill('SIGKILL');
    const before = load.acknowledged.size;
    await stage.until('requests are answered', () => load.acknowledged.size > before + 20);
    expect((await stage.ask(staying, '/v1/cluster'))?.body).to.have.nested.include({
      'leader.node': first,
    });
    stage.start(dying);
    await whole(first);
    stage.node(first).kill('SIGKILL');
    const second = await stage.leader(first);
    stage.start(first);
    await whole(second);
    stage.node(second).kill('SIGKILL');
    await stage.leader(second);
    stage.start(second);
    await whole(await stage.leader());
    await load.stop();
    const records = await stage.compared();
    expectEachOnce(records, load);
    expect(records.filter(({ type }) => type === 'CoordinatorStarted')).to.have.length.at.least(3);
  });

  played('a leader that steps down is followed by one of the two others', async () => {
    const first = await stage.leader();
    await whole(first);
    const { out, err } = await stage.run('step-down', '--json');
    const { leader, before } = JSON.parse(out || '{}') as { leader?: string; before?: string };
    expect(before, err).to.equal(first);
    expect(leader).to.be.oneOf(NODES.filter((node) => node !== first));
    expect((await stage.node(first).ended).code).to.equal(1);
    stage.start(first);
    await whole(String(leader));
    const { body } = (await stage.ask(String(leader), '/v1/tasks', { payload: 'p' })) ?? {};
    expect(body).to.include({ state: 'WAITING' });
    for (const node of NODES)
      await stage.until(`${node} has it`, async () => {
        const view = (await stage.ask(node, '/v1/cluster'))?.body;
        return Number(view?.['last_sequence']) >= Number(body?.['record']) || undefined;
      });
    const records = await stage.compared();
    expect(records.filter(({ type }) => type === 'CoordinatorStarted')).to.have.length.at.least(2);
  });

  for (const [title, play] of inTurn(cases)) it(title, play);
});
