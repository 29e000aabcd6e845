// Two real nodes over three real members of etcd: whatever is killed, every answer stays true. The
// starts of nodes cost most of the time, so one cluster goes from case to case, and what its nodes
// hold is compared when all cases are over.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Worker } from '../../src/index.ts';
import { isMachineBusy } from '../../src/rehearse/slow-machine.ts';
import { MovedClock } from '../reliability/moved-clock.ts';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { HttpLink } from '../support/links.ts';
import type { Fields } from '../support/server.ts';
import { inTurn, sized } from '../support/tier.ts';
import {
  type Answered,
  ClusterStage,
  expectEachOnce,
  NO_PAUSE_MS,
  Submitters,
} from './cluster-stage.ts';
import { SilentProxy } from './silent-proxy.ts';

/** Deaths of a leader under a load. */
const ROUNDS = sized(2, 1);

const other = (node: string): string => (node === 'a' ? 'b' : 'a');

withEtcd('a cluster of two nodes', {}, (etcd: () => EtcdCluster) => {
  let open: ClusterStage | undefined;
  let stage: ClusterStage;
  /** What the log must show in the end. */
  const shown: ((records: readonly Fields[]) => void)[] = [];
  const cases: (readonly [title: string, play: () => Promise<void>])[] = [];
  const played = (title: string, play: () => Promise<void>): void => {
    cases.push([title, play]);
  };
  beforeEach(async function () {
    this.timeout(180_000);
    open ??= await ClusterStage.open(etcd());
    stage = open;
    await stage.sound();
  });
  afterEach(async function () {
    // What a case that failed has left says nothing about the next one.
    if (this.currentTest?.state === 'failed') await end();
  });
  after(async function () {
    this.timeout(180_000);
    if (open === undefined) return;
    try {
      const records = await stage.compared();
      for (const check of shown) check(records);
    } finally {
      await end();
    }
  });

  async function end(): Promise<void> {
    shown.splice(0);
    await open?.close();
    open = undefined;
  }

  async function submitted(node: string): Promise<string> {
    const answer = await stage.ask(node, '/v1/tasks', { payload: 'p' });
    expect(answer).to.include({ status: 201 });
    return String(answer?.body['task_id']);
  }

  played('goes on when the leader is killed, and loses nothing that it acknowledged', async () => {
    const first = Number((await stage.ask(await stage.leader(), '/v1/cluster'))?.body['epoch']);
    const load = new Submitters(stage, 4);
    for (let round = 0; round < ROUNDS; round += 1) {
      const leader = await stage.leader();
      await stage.follows(other(leader));
      await pause(300);
      stage.node(leader).kill('SIGKILL');
      await stage.leader(leader);
      stage.start(leader);
      await stage.follows(leader);
    }
    await load.stop();
    const wasBusy = isMachineBusy();
    const last = Number((await stage.ask(await stage.leader(), '/v1/cluster'))?.body['epoch']);
    shown.push((records) => {
      expectEachOnce(records, load);
      const starts = records.filter(({ type }) => type === 'CoordinatorStarted');
      const between = starts.filter(({ seq }) => Number(seq) > first && Number(seq) <= last);
      expect(between).to.have.length.of.at.least(ROUNDS);
      // A leader that a busy machine kept silent is followed by one more.
      if (!wasBusy) expect(between).to.have.length(ROUNDS);
    });
  });

  async function worksOverTheEndOfALeader(signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
    const client = stage.client();
    const leader = await stage.leader();
    await stage.follows(other(leader));
    const tasks = await Promise.all(
      Array.from({ length: 6 }, (_, n) => client.submit({ payload: String(n), queue: 'slow' })),
    );
    const attempts: number[] = [];
    let isOver = (): void => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const worker = new Worker({
      url: stage.urls,
      queues: ['slow'],
      concurrency: 6,
      retries: 500,
      backoffMs: 20,
      backoffMaxMs: 200,
      handler: async (task) => {
        attempts.push(task.attempt);
        await over;
        return 'done';
      },
    });
    const running = worker.run();
    await stage.until('all tasks are in hand', () => (attempts.length === 6 ? true : undefined));
    stage.node(leader).kill(signal);
    await stage.leader(leader);
    isOver();
    for (const { taskId } of tasks) {
      const task = await client.task(taskId, { waitMs: 30_000 });
      expect(task).to.include({ state: 'COMPLETED', attempt: 1, expirations: 0 });
    }
    await worker.stop();
    await running;
    client.close();
    expect(attempts).to.deep.equal([1, 1, 1, 1, 1, 1]);
    stage.node(leader).kill('SIGCONT');
    await stage.node(leader).ended;
    stage.start(leader);
    await stage.follows(leader);
  }

  played('a worker goes on when the leader is killed, and no attempt is lost', () =>
    worksOverTheEndOfALeader('SIGKILL'),
  );
  played('a worker goes on when the leader sleeps, and no attempt is lost', () =>
    worksOverTheEndOfALeader('SIGSTOP'),
  );

  played('a leader that slept tells nothing that is not true any more, and ends', async () => {
    const leader = await stage.leader();
    const next = other(leader);
    await stage.follows(next);
    const taskId = await submitted(leader);
    const route = `/v1/tasks/${taskId}`;
    const open = new HttpLink(Number(new URL(stage.url(leader)).port));
    expect(await open.call('task', { task_id: taskId })).to.include({ state: 'WAITING' });
    stage.node(leader).kill('SIGSTOP');
    await stage.leader(leader);
    expect(await stage.ask(next, `${route}/kill`, { reason: 'r' })).to.include({ status: 200 });
    const late = stage.ask(leader, route);
    const page = stage.ask(leader, '/v1/log?tail=1');
    const onOpen = open.call('task', { task_id: taskId });
    await pause(100);
    stage.node(leader).kill('SIGCONT');
    expect(await onOpen).to.include({ outcome: 'UNAVAILABLE' });
    open.close();
    // A connection that is new may be cut off: the process ends.
    for (const told of [await late, await page]) {
      if (told !== undefined) expect(told.body).to.include({ outcome: 'UNAVAILABLE' });
    }
    expect((await stage.node(leader).ended).code).to.equal(1);
    expect(stage.node(leader).err).to.include('NOT_LEADER: another node leads since record');
    expect((await stage.ask(next, route))?.body).to.include({ state: 'DEAD' });
    stage.start(leader);
    await stage.follows(leader);
  });

  played('a deposed leader that nobody asks ends, too', async () => {
    const leader = await stage.leader();
    await stage.follows(other(leader));
    stage.node(leader).kill('SIGSTOP');
    await stage.leader(leader);
    stage.node(leader).kill('SIGCONT');
    expect((await stage.node(leader).ended).code).to.equal(1);
  });

  played('SIGTERM hands over at once', async () => {
    const load = new Submitters(stage, 4);
    const leader = await stage.leader();
    await stage.follows(other(leader));
    stage.node(leader).kill('SIGTERM');
    expect((await stage.node(leader).ended).code).to.equal(0);
    await stage.leader(leader);
    stage.start(leader);
    await stage.follows(leader);
    await load.stop();
    shown.push((records) => expectEachOnce(records, load));
  });

  played('step-down lets the other node lead, and the one before ends in words', async () => {
    const load = new Submitters(stage, 10, NO_PAUSE_MS);
    const leader = await stage.leader();
    await stage.follows(other(leader));
    const before = load.acknowledged.size;
    await stage.until('requests are answered', () => load.acknowledged.size > before + 50);
    const { code, out } = await stage.run('step-down', '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.include({ leader: other(leader), before: leader });
    expect(await stage.leader(leader)).to.equal(other(leader));
    expect((await stage.node(leader).ended).code).to.equal(1);
    expect(stage.node(leader).err).to.include('NOT_LEADER');
    // A start behind a leader that goes on writing is vain, and the node would begin anew.
    expect(stage.node(other(leader)).out).to.not.include('another node was faster');
    await load.stop();
    shown.push((records) => expectEachOnce(records, load));
  });

  played('goes on when a member of etcd is killed, its leader too', async () => {
    const load = new Submitters(stage, 4);
    const leader = await stage.leader();
    await stage.follows(other(leader));
    for (const pick of ['follower', 'leader'] as const) {
      const of = await etcd().leader();
      const member = pick === 'leader' ? of : (of + 1) % 3;
      await etcd().kill(member);
      const before = load.acknowledged.size;
      await stage.until('requests are answered', () => load.acknowledged.size > before + 50);
      await etcd().restart(member);
    }
    await load.stop();
    shown.push((records) => expectEachOnce(records, load));
  });

  played(
    'a new leader goes on from the time of the one before, not from its own clock',
    async () => {
      const leader = await stage.leader();
      const next = other(leader);
      await stage.follows(next);
      stage.node(next).kill('SIGTERM');
      await stage.node(next).ended;
      const clock = new MovedClock(stage.dir);
      clock.move(3_600_000);
      stage.start(next, [], clock.env);
      await stage.follows(next);
      const taskId = await submitted(leader);
      const { body } = (await stage.ask(leader, '/v1/leases', { worker_id: 'w' })) as Answered;
      const [lease] = body['leases'] as Fields[];
      await stage.ask(leader, '/v1/tasks', { payload: 'later', delay_ms: 1_800_000 });
      stage.node(leader).kill('SIGKILL');
      expect(await stage.leader(leader)).to.equal(next);
      expect(await stage.ask(next, '/v1/leases', { worker_id: 'w' })).to.have.nested.property(
        'body.empty.reason',
        'not_yet_eligible',
      );
      const route = `/v1/leases/${String(lease?.['lease_id'])}`;
      const beat = await stage.ask(next, `${route}/heartbeat`, { task_id: taskId });
      expect(beat?.body).to.include({ outcome: 'OK' });
      const done = await stage.ask(next, `${route}/complete`, { task_id: taskId });
      expect(done?.body).to.include({ outcome: 'COMMITTED' });
      const { body: stats } = (await stage.ask(next, '/v1/stats')) as Answered;
      expect(Number(stats['clock_offset_ms'])).to.be.closeTo(-3_600_000, 60_000);
      // That clock is for this case alone.
      stage.node(next).kill('SIGTERM');
      await stage.node(next).ended;
    },
  );

  played('a leader cut off from etcd is replaced, and ends when it learns of that', async () => {
    for (const node of ['a', 'b']) stage.node(node).kill('SIGTERM');
    for (const node of ['a', 'b']) await stage.node(node).ended;
    const proxies = await Promise.all(etcd().urls.map((url) => SilentProxy.before(url)));
    try {
      const urls = proxies.map(({ url }) => url).join();
      stage.start('a', [], { LEASEHOLD_ETCD: urls });
      expect(await stage.leader()).to.equal('a');
      stage.start('b');
      await stage.follows('b');
      const load = new Submitters(stage, 4);
      await stage.until('the load runs', () => load.acknowledged.size > 50);
      for (const proxy of proxies) proxy.silence('all');
      expect(await stage.leader('a')).to.equal('b');
      // Clients still reach the leader of before: it tells nothing that it cannot know.
      const told = await stage.ask('a', '/v1/stats');
      expect(told?.body).to.include({ outcome: 'UNAVAILABLE' });
      await stage.until('the load goes on', () => load.acknowledged.size > 200);
      for (const proxy of proxies) proxy.silence(undefined);
      expect((await stage.node('a').ended).code).to.equal(1);
      expect(stage.node('a').err).to.include('NOT_LEADER');
      stage.start('a');
      await stage.follows('a');
      await load.stop();
      shown.push((records) => expectEachOnce(records, load));
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    }
  });

  played('stops in order while etcd does not answer', async () => {
    const leader = await stage.leader();
    await stage.follows(other(leader));
    for (const member of [0, 1]) await etcd().kill(member);
    const late = stage.ask(leader, '/v1/tasks', { payload: 'p' });
    await pause(200);
    // Asked later, and answered: the one that is under way has come.
    expect(await stage.ask(leader, '/livez')).to.include({ status: 200 });
    stage.node(leader).kill('SIGTERM');
    expect((await stage.node(leader).ended).code, stage.node(leader).err).to.equal(0);
    expect((await late)?.body).to.include({ outcome: 'UNAVAILABLE' });
    stage.node(other(leader)).kill('SIGTERM');
    expect((await stage.node(other(leader)).ended).code).to.equal(0);
    for (const member of [0, 1]) await etcd().restart(member);
  });

  played(
    'without a majority of etcd all is refused in bounded time, and goes on after',
    async () => {
      const leader = await stage.leader();
      await stage.follows(other(leader));
      const taskId = await submitted(leader);
      const route = `/v1/tasks/${taskId}`;
      for (const member of [0, 1]) await etcd().kill(member);
      const refused = await Promise.all([
        stage.ask(leader, '/v1/tasks', { payload: 'q' }),
        stage.ask(leader, route),
      ]);
      for (const one of refused) expect(one?.body).to.include({ reason: 'log_unavailable' });
      const [, read] = refused;
      expect(read?.body['detail']).to.include('nothing was changed');
      const ready = await stage.ask(leader, '/readyz');
      expect(ready).to.include({ status: 503 });
      expect(ready?.body['detail']).to.include('reads are refused unless etcd confirms them');
      expect(await stage.ask(leader, '/livez')).to.include({ status: 200 });
      for (const member of [0, 1]) await etcd().restart(member);
      const client = stage.client();
      await client.submit({ payload: 'r' });
      expect(await client.task(taskId)).to.include({ state: 'WAITING' });
      client.close();
    },
  );

  for (const [title, play] of inTurn(cases)) it(title, play);
});
