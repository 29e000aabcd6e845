// submit → lease → complete over the socket of the real server, on the log of one machine and on
// the log that three members of etcd agree on, in turns in the same rounds. The node that leads has
// a second node that follows it. Everything shares the processors and the disk of this machine.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
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

/** Members of etcd, a node that leads and another one that follows it. */
async function startNodes(): Promise<Side> {
  const etcd = await EtcdCluster.start();
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
      await etcd.close();
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

function rows(taken: Readonly<Record<string, readonly Driven[]>>): Row[] {
  return SHAPES.flatMap(({ inFlight, least }) => {
    const of = (side: string, what: keyof Driven): number[] =>
      (taken[`${side}, ${inFlight} in flight`] ?? []).map((one) => one[what]);
    const both = ratios(of('etcd', 'perSecond'), of('alone', 'perSecond'));
    const goal = least === undefined ? {} : { goal: atLeast(both, least) };
    return [
      rowOf(`${inFlight} in flight: one machine`, 'tasks/s', of('alone', 'perSecond')),
      rowOf(`${inFlight} in flight: etcd`, 'tasks/s', of('etcd', 'perSecond')),
      rowOf(`${inFlight} in flight: etcd ÷ one machine`, 'ratio', both, goal),
      rowOf(`${inFlight} in flight: one machine: p50`, 'µs', of('alone', 'p50Us')),
      rowOf(`${inFlight} in flight: etcd: p50`, 'µs', of('etcd', 'p50Us')),
    ];
  });
}

export const bench: Bench = {
  about: 'submit → lease → complete over the socket, the log on one machine and in etcd',
  async run({ rounds, seconds, say }) {
    if (!hasEtcd()) return [];
    say('starting');
    const sides = { alone: await sideOf(await startServer()), etcd: await startNodes() };
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
    }
    const taken = await interleaved<string, Driven>({ rounds, say }, cases);
    await sides.alone.stop();
    await sides.etcd.stop();
    return rows(taken);
  },
};
