// A real node over a real etcd with a small quota: more than the quota is written, and etcd does
// not notice. A copy on another machine is played here; the node's own trimming rests on it.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { time } from '../../actors/coordinator/node-time.ts';
import { Presence } from '../../src/cluster/presence.ts';
import type { Etcd } from '../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../src/log/etcd/grpc-etcd.ts';
import { keysOf } from '../../src/log/etcd/keys.ts';
import { withEtcd } from '../support/etcd-cluster.ts';
import type { Fields } from '../support/server.ts';
import { sized } from '../support/tier.ts';
import { type Answered, ClusterStage } from './cluster-stage.ts';

const QUOTA = 24 * 1024 * 1024;
/** What is written in all, in quotas. */
const TIMES = sized(10, 2);
const PAYLOAD = 'x'.repeat(64 * 1024);
const AT_ONCE = 8;
/** A lease outlives the filling of etcd, however busy the machine is. */
const LONG_LEASE = ['--lease-duration-ms', '1h', '--execution-window-ms', '2h'];

/** Says of a copy elsewhere that it holds what it was told last. */
class Elsewhere {
  mirrored = 0;
  private presence: Presence | undefined;

  async announce(etcd: Etcd, cluster: string): Promise<void> {
    const fixed = { url: 'http://elsewhere', mirror: 'm', machine: 'elsewhere', version: '0' };
    const options = { etcd, keys: keysOf(cluster), node: 'elsewhere', time, tell: () => {} };
    const report = () => ({ ...fixed, mirrored: this.mirrored });
    const more = { leaseId: () => 7_777, report, copies: () => [], lost: () => {} };
    const { signal } = new AbortController();
    this.presence = await Presence.announce({ ...options, ...more }, signal);
  }

  async leave(): Promise<void> {
    await this.presence?.withdraw();
  }
}

const flags = ['--quota-backend-bytes', String(QUOTA)];

withEtcd('etcd with a small quota', { members: 1, flags }, (cluster) => {
  let stage: ClusterStage;
  let etcd: Etcd;
  let elsewhere: Elsewhere;
  beforeEach(async () => {
    stage = await ClusterStage.open(cluster(), ['a'], false);
    await stage.run('init', ...LONG_LEASE);
    stage.start('a', LONG_LEASE);
    etcd = openEtcd({ urls: cluster().urls, callMs: 10_000 });
    elsewhere = new Elsewhere();
  });
  afterEach(async () => {
    await elsewhere.leave();
    etcd.close();
    await stage.close();
  });

  const asked = async (route: string, body?: unknown): Promise<Answered> =>
    (await stage.ask('a', route, body)) as Answered;
  const submit = (payload = PAYLOAD) => asked('/v1/tasks', { payload, queue: 'many' });

  /** Submits until that was done so often, or one is refused. @returns the refusal. */
  async function submitted(count: number): Promise<Answered | undefined> {
    let left = count;
    let refused: Answered | undefined;
    const one = async (): Promise<void> => {
      while (left > 0 && refused === undefined) {
        left -= 1;
        const answer = await submit();
        if (answer.status !== 201) refused = answer;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    return refused;
  }

  async function lastSequence(): Promise<number> {
    return Number((await asked('/v1/cluster')).body['last_sequence']);
  }

  it('is never filled: new tasks wait, and what was begun is ended', async function () {
    this.timeout(600_000);
    await stage.leader();
    await asked('/v1/tasks', { payload: 'p', queue: 'one' });
    const leased = await asked('/v1/leases', { worker_id: 'w', queues: ['one'] });
    const [lease] = leased.body['leases'] as Fields[];
    const route = `/v1/leases/${String(lease?.['lease_id'])}`;
    const id = { task_id: lease?.['task_id'] };

    const refused = await stage.until('etcd is nearly full', async () => {
      await submitted(1_000);
      // What was written since etcd was looked at may be less than it was taken for.
      await pause(2_500);
      const answer = await submit();
      return answer.status === 201 ? undefined : answer;
    });
    expect(refused?.body).to.include({ outcome: 'UNAVAILABLE', reason: 'log_unavailable' });
    expect(refused?.body['detail']).to.include('% of its quota of 24 MiB');
    expect(await etcd.alarms()).to.deep.equal([]);
    const ready = await asked('/readyz');
    expect(ready.status).to.equal(200);
    expect(ready.body['refusing']).to.include('no new task is taken');
    const metrics = await (await fetch(`${stage.url('a')}/metrics`)).text();
    expect(metrics).to.include('\nleasehold_cluster_refuses_tasks 1\n');
    expect(metrics).to.include(`\nleasehold_cluster_etcd_quota_bytes ${QUOTA}\n`);
    expect((await asked(`${route}/heartbeat`, id)).body).to.include({ outcome: 'OK' });
    expect((await asked(`${route}/complete`, id)).body).to.include({ outcome: 'COMMITTED' });
    expect((await stage.run('status')).out).to.include('24.0 MiB');

    elsewhere.mirrored = await lastSequence();
    await elsewhere.announce(etcd, stage.name);
    const again = async () => (await submit('p')).status === 201;
    await stage.until('there is room again', async () => (await again()) || undefined);

    let written = 0;
    let largest = 0;
    while (written < TIMES * QUOTA) {
      await submitted(2 * AT_ONCE);
      written = (await lastSequence()) * PAYLOAD.length;
      elsewhere.mirrored = await lastSequence();
      const [status] = await etcd.status();
      largest = Math.max(largest, status?.dbBytes ?? 0);
    }
    expect(largest).to.be.lessThan(QUOTA);
    expect(await etcd.alarms()).to.deep.equal([]);
    await stage.until('the node goes on', async () => (await again()) || undefined);
    await stage.compared();
  });
});
