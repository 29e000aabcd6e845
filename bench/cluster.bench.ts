// submit → lease → complete over the socket of the real server, on the log of one machine and on
// the log that three members of etcd agree on, in turns in the same rounds. The node that leads has
// a second node that follows it. Beside them stands what etcd alone allows: for each step of a task
// one transaction of the bytes of all callers' records, and nothing else to be done. Everything
// shares the processors and the disk of this machine.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { openEtcd } from '../src/log/etcd/grpc-etcd.ts';
import { ServerProcess } from '../src/play/demo/processes.ts';
import { EtcdCluster, hasEtcd } from '../test/support/etcd-cluster.ts';
import { ownPort } from '../test/support/own-port.ts';
import { closedLoop, type Driven, pause, type Work } from './driver.ts';
import { atLeast, type Bench, interleaved, type Row, ratios, rowOf } from './harness.ts';
import { scratch } from './machine.ts';
import { PAYLOAD } from './records.ts';
import { MAIN, type Server, startServer } from './server.ts';
import { lifecycle, SocketLink } from './socket-link.ts';

interface Shape {
  readonly inFlight: number;
  readonly connections: number;
  /** The least that the log of several machines should reach of the one of this machine. */
  readonly least?: number;
}

const SHAPES: readonly Shape[] = [
  { inFlight: 1, connections: 1 },
  { inFlight: 16, connections: 16, least: 0.35 },
  { inFlight: 256, connections: 16, least: 0.5 },
];
const CONNECTIONS = 16;
/** V8 compiles its functions anew until then. */
const WARM_UP_SECONDS = 2;
const FOLLOWED_WITHIN_MS = 60_000;
const STEPS = 3;
/** What a record and its place take in a group, on average over the three steps. */
const RECORD_BYTES = 120;
const HEAD = Buffer.alloc(100);
const CALL_MS = 10_000;

interface Side {
  readonly works: readonly Work[];
  stop(): Promise<void>;
}

async function sideOf(server: Server): Promise<Side> {
  const links: SocketLink[] = [];
  for (let i = 0; i < CONNECTIONS; i += 1) links.push(await SocketLink.to(server.socketPort));
  return {
    works: links.map((link, client) => () => lifecycle(link, `worker-${client}`, PAYLOAD)),
    stop() {
      for (const link of links) link.close();
      return server.stop();
    },
  };
}

/** What a task of each of so many callers takes of etcd at least. */
function etcdAlone(urls: readonly string[]): (callers: number) => Work {
  const etcd = openEtcd({ urls, callMs: CALL_MS });
  return (callers) => async () => {
    const value = Buffer.alloc(callers * RECORD_BYTES, 'r');
    for (let step = 0; step < STEPS; step += 1) {
      await etcd.txn(
        [],
        [
          { put: `limit/group-${step}`, value },
          { put: 'limit/head', value: HEAD },
        ],
      );
    }
  };
}

/** A node that leads and another one that follows it. */
async function startNodes(etcd: EtcdCluster): Promise<Side> {
  const shared = ['--etcd', etcd.urls.join(), '--cluster-name', 'bench'];
  execFileSync(process.execPath, [MAIN, 'cluster', 'init', ...shared], { stdio: 'pipe' });
  const node = (name: string): string[] => [
    ...[...shared, '--node-name', name, '--advertise-url', `http://${name}.invalid`],
  ];
  const leader = await startServer({ knobs: node('leader') });
  const dataDir = scratch('follower');
  const follower = new ServerProcess({ dataDir, port: await ownPort(), args: node('follower') });
  await isFollowed(leader, follower);
  const side = await sideOf(leader);
  return {
    ...side,
    async stop() {
      // A node that fell behind or ended would have made the figures better than they are.
      await isFollowed(leader, follower);
      await follower.destroy();
      await side.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Resolves when the follower holds what the leader held at this moment. */
async function isFollowed(leader: Server, follower: ServerProcess): Promise<void> {
  const last = await lastOf(`http://127.0.0.1:${leader.httpPort}`);
  const end = performance.now() + FOLLOWED_WITHIN_MS;
  while (performance.now() < end && follower.over === undefined) {
    if ((await lastOf(follower.url)) >= Math.max(1, last)) return;
    await pause(20);
  }
  throw new Error(`the second node does not follow: ${follower.err || follower.out}`);
}

/** @returns 0 when nobody answers. */
async function lastOf(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/cluster`).catch(() => undefined);
  const view = (await response?.json()) as { readonly last_sequence?: number } | undefined;
  return view?.last_sequence ?? 0;
}

const LIMIT = { note: 'what etcd allows when all callers share each transaction' };

function rows(taken: Readonly<Record<string, readonly Driven[]>>): Row[] {
  return SHAPES.flatMap(({ inFlight, least }) => {
    const of = (side: string, what: keyof Driven): number[] =>
      (taken[`${side}, ${inFlight} in flight`] ?? []).map((one) => one[what]);
    const both = ratios(of('etcd', 'perSecond'), of('alone', 'perSecond'));
    const limit = of('limit', 'perSecond').map((perSecond) => perSecond * inFlight);
    const limits = ratios(limit, of('alone', 'perSecond'));
    const goal = least === undefined ? {} : { goal: atLeast(both, least) };
    return [
      rowOf(`${inFlight} in flight: one machine`, 'tasks/s', of('alone', 'perSecond')),
      rowOf(`${inFlight} in flight: etcd`, 'tasks/s', of('etcd', 'perSecond')),
      rowOf(`${inFlight} in flight: etcd ÷ one machine`, 'ratio', both, goal),
      rowOf(`${inFlight} in flight: etcd alone ÷ one machine`, 'ratio', limits, LIMIT),
      rowOf(`${inFlight} in flight: one machine: p50`, 'µs', of('alone', 'p50Us')),
      rowOf(`${inFlight} in flight: etcd: p50`, 'µs', of('etcd', 'p50Us')),
    ];
  });
}

export const bench: Bench = {
  about: 'submit → lease → complete over the socket, the log on one machine and in etcd',
  async run({ rounds, seconds, say }) {
    if (!hasEtcd()) {
      say('left out: etcd is missing (apt-get install etcd-server)');
      return [];
    }
    say('starting');
    const etcd = await EtcdCluster.start();
    const sides = { alone: await sideOf(await startServer()), etcd: await startNodes(etcd) };
    const limit = etcdAlone(etcd.urls);
    const cases: Record<string, () => Promise<Driven>> = {};
    for (const [name, { works }] of Object.entries(sides)) {
      say(`warming up: ${name}`);
      await closedLoop(works, WARM_UP_SECONDS, CONNECTIONS);
    }
    for (const { inFlight, connections } of SHAPES) {
      for (const [name, { works }] of Object.entries(sides)) {
        cases[`${name}, ${inFlight} in flight`] = () =>
          closedLoop(works.slice(0, connections), seconds, inFlight / connections);
      }
      cases[`limit, ${inFlight} in flight`] = () => closedLoop([limit(inFlight)], seconds);
    }
    const taken = await interleaved<string, Driven>({ rounds, say }, cases);
    await sides.alone.stop();
    await sides.etcd.stop();
    await etcd.close();
    return rows(taken);
  },
};
