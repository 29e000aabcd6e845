// Owns `lab --cluster`: three members of etcd and two nodes on this machine, to be killed. Whatever
// is killed comes back after a few seconds; everything is removed when the lab ends.

import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openTransport } from '../client/exchanger.ts';
import { agreedOf } from '../cluster/agreement.ts';
import { initCluster } from '../cluster/init.ts';
import { openEtcd } from '../log/etcd/grpc-etcd.ts';
import { keysOf } from '../log/etcd/keys.ts';
import { recordLine } from '../model/record-line.ts';
import { FORMAT_VERSION } from '../model/records.ts';
import { ServerProcess } from '../play/demo/processes.ts';
import { CleanUp } from '../rehearse/clean-up.ts';
import { readKnobs } from '../settings/settings.ts';
import { type Io, say } from './command.ts';
import { LabEtcd } from './lab-etcd.ts';

const CLUSTER = 'lab';
const AGAIN_MS = 3_000;
const LOOK_MS = 100;
/** The other node listens so many ports above the first one. */
const APART = 10;

interface Node {
  readonly name: string;
  readonly port: number;
  server?: ServerProcess;
}

/** @param first the port of the first node */
export async function labCluster(first: number, name: string, io: Io): Promise<void> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-lab-'));
  const cleanUp = new CleanUp();
  cleanUp.add('folder', dir);
  const over = new AbortController();
  const stop = (): void => over.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  // Ctrl-C reaches the processes of the lab, too, and none of them is started again.
  const tell = (text: string): void => {
    if (!over.signal.aborted) say(io.stdout, `— ${text}`);
  };
  const etcd = await LabEtcd.start(dir, cleanUp, tell).catch(async (error: unknown) => {
    await cleanUp.close();
    throw error;
  });
  const nodes = ['a', 'b'].map((node, n): Node => ({ name: node, port: first + n * APART }));
  try {
    await makeCluster(etcd.urls);
    const around = { dir, urls: etcd.urls, cleanUp, signal: over.signal, tell };
    const running = nodes.map((node) => run(node, around));
    const leader = await firstLeader(nodes, over.signal);
    if (leader !== undefined) say(io.stdout, introduction(nodes, leader, etcd, name));
    await Promise.all([watch(nodes, over.signal, tell), print(nodes, over.signal, io)]);
    for (const { server } of nodes) server?.kill('SIGKILL');
    await Promise.all(running);
  } finally {
    over.abort();
    for (const { server } of nodes) await server?.destroy();
    etcd.stop();
    await cleanUp.close();
  }
}

async function makeCluster(urls: readonly string[]): Promise<void> {
  const { values } = readKnobs({ flags: FLAGS, env: {}, readFile: () => '' });
  const etcd = openEtcd({ urls, callMs: 5_000 });
  const knobs = agreedOf(values);
  try {
    await initCluster(etcd, keysOf(CLUSTER), { log: randomUUID(), format: FORMAT_VERSION, knobs });
  } finally {
    etcd.close();
  }
}

/** Leases that are short enough to wait for, and long enough to outlast a failover. */
const FLAGS = { leaseDurationMs: '10000', backoffMs: '0' } as const;

interface Surroundings {
  readonly dir: string;
  readonly urls: readonly string[];
  readonly cleanUp: CleanUp;
  readonly signal: AbortSignal;
  tell(text: string): void;
}

/** Runs a node until the lab ends, as a service manager would. */
async function run(node: Node, { dir, urls, cleanUp, signal, tell }: Surroundings): Promise<void> {
  const args = [
    ...['--etcd', urls.join(), '--cluster-name', CLUSTER, '--node-name', node.name],
    ...['--advertise-url', `http://127.0.0.1:${node.port}`],
    ...['--lease-duration-ms', FLAGS.leaseDurationMs, '--backoff-ms', FLAGS.backoffMs],
  ];
  const env = { PATH: process.env['PATH'], ...cleanUp.environment };
  const dataDir = path.join(dir, `node-${node.name}`);
  while (!signal.aborted) {
    const server = new ServerProcess({ dataDir, port: node.port, args, env });
    const { pid = 0 } = server.child;
    const isAgain = node.server !== undefined;
    node.server = server;
    cleanUp.add('process', pid);
    if (isAgain) tell(`node ${node.name} runs again, process ${pid}`);
    await server.ended;
    cleanUp.drop('process', pid);
    if (signal.aborted) return;
    const why = server.err === '' ? '' : `: ${server.err.trim()}`;
    tell(`node ${node.name} is gone${why}; it is started again in ${AGAIN_MS / 1_000} s`);
    await pause(AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

function introduction(nodes: readonly Node[], leader: Node, etcd: LabEtcd, name: string): string {
  const leads = leader.server?.child.pid;
  const urls = nodes.map(({ port }) => `http://127.0.0.1:${port}`).join();
  const [a, b] = nodes.map(({ server }) => server?.child.pid);
  const members = etcd.lines.map(({ name: member, pid }) => `${member} is process ${pid}`);
  return `
Two nodes run over three members of etcd. Node a is process ${a}, node b is process ${b}.
The members of etcd: ${members.join(', ')}. The log is below.
In another terminal:

  export LEASEHOLD_URL=${urls}
  echo hello | ${name} submit
  ${name} lease --worker w1
  curl -s localhost:${nodes[0]?.port}/v1/cluster       # who leads
  ${name} cluster status --cluster-name ${CLUSTER} --etcd ${etcd.urls.join()}

Now kill what you like, and go on to send requests:

  kill -9 ${leads}         # the node that leads: the other one takes over in some 1.6 s
  kill ${leads}            # SIGTERM: the leader hands over at once, and ends
  kill -STOP ${leads}      # paused; after kill -CONT it learns that the other one leads, and ends
  kill -9 ${etcd.lines[0]?.pid}         # a member of etcd

Whatever is killed is started again after 3 s. Ctrl-C ends it; nothing is kept.
`;
}

/** @returns undefined: the signal aborted before. */
async function firstLeader(nodes: readonly Node[], signal: AbortSignal): Promise<Node | undefined> {
  while (!signal.aborted) {
    const leader = await leaderOf(nodes);
    if (leader !== undefined) return leader;
    await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** Tells who leads whenever that changes. */
async function watch(
  nodes: readonly Node[],
  signal: AbortSignal,
  tell: (text: string) => void,
): Promise<void> {
  let leads = '';
  let since = performance.now();
  while (!signal.aborted) {
    const leader = await leaderOf(nodes);
    if (leader !== undefined) {
      const tookMs = Math.round(performance.now() - since);
      const after = leads === '' ? '' : `, after ${tookMs} ms without an answer of a leader`;
      if (leader.name !== leads) tell(`node ${leader.name} leads${after}`);
      leads = leader.name;
      since = performance.now();
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

async function leaderOf(nodes: readonly Node[]): Promise<Node | undefined> {
  for (const node of nodes) {
    const signal = AbortSignal.timeout(1_000);
    const url = `http://127.0.0.1:${node.port}/readyz`;
    const status = await fetch(url, { signal }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return node;
  }
  return undefined;
}

/** Prints the records, from whichever node leads, until the lab ends. */
async function print(nodes: readonly Node[], signal: AbortSignal, { stdout }: Io): Promise<void> {
  let from = 1;
  while (!signal.aborted) {
    const leader = await leaderOf(nodes);
    if (leader !== undefined) {
      const transport = openTransport(`http://127.0.0.1:${leader.port}`, undefined);
      try {
        for await (const record of transport.follow({ from }, signal)) {
          say(stdout, recordLine(record));
          from = Number(record['seq']) + 1;
        }
      } catch {
        // The connection goes with the leader; the next one has the same log.
      } finally {
        transport.close();
      }
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}
