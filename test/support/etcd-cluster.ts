// Owns the etcd members of a test: real processes on free ports of this machine, in a temporary
// directory of their own. They are ended by their process ids, and a guardian ends them and removes
// the directory when the test's process dies. No test touches an etcd that it did not start.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEtcd } from '../../src/log/etcd/grpc-etcd.ts';
import { CleanUp } from '../../src/rehearse/clean-up.ts';
import { ownPort } from './own-port.ts';
import { skip } from './skip.ts';

const READY_MS = 60_000;
const LOOK_MS = 50;
const KEPT_OUTPUT = 20_000;
/** So a lost member is noticed within a second; etcd's defaults are ten times as long. */
const FAST = ['--heartbeat-interval', '50', '--election-timeout', '500', '--pre-vote'];

export interface ClusterOptions {
  readonly members?: number;
  /** Further flags of every member, such as --quota-backend-bytes. */
  readonly flags?: readonly string[];
  /** TLS between clients and members. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
}

interface Member {
  readonly url: string;
  readonly args: readonly string[];
  child: ChildProcess | undefined;
  output: string;
}

export class EtcdCluster {
  private readonly members: readonly Member[];
  /** Holds the data of all members. */
  readonly directory: string;
  private readonly cleanUp: CleanUp;
  private readonly tls: ClusterOptions['tls'];
  private isClosed = false;

  private constructor(
    members: readonly Member[],
    directory: string,
    cleanUp: CleanUp,
    tls: ClusterOptions['tls'],
  ) {
    this.members = members;
    this.directory = directory;
    this.cleanUp = cleanUp;
    this.tls = tls;
  }

  /** Resolves when every member answers and knows a leader. */
  static async start({ members: count = 3, flags = [], tls }: ClusterOptions = {}) {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-etcd-'));
    const cleanUp = new CleanUp();
    cleanUp.add('folder', directory);
    // A certificate is asked for a name: an address in its place is not allowed by TLS.
    const [listening, advertised] =
      tls === undefined
        ? ['http://127.0.0.1', 'http://127.0.0.1']
        : ['https://127.0.0.1', 'https://localhost'];
    const ports: (readonly [client: number, peer: number])[] = [];
    while (ports.length < count) ports.push([await ownPort(), await ownPort()]);
    const initial = ports.map(([, peer], i) => `m${i}=http://127.0.0.1:${peer}`).join();
    const members = ports.map(([client, peer], i): Member => {
      const url = `${advertised}:${client}`;
      const args = [
        ...['--name', `m${i}`, '--data-dir', path.join(directory, `m${i}`)],
        ...['--listen-client-urls', `${listening}:${client}`, '--advertise-client-urls', url],
        ...['--listen-peer-urls', `http://127.0.0.1:${peer}`],
        ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
        ...['--initial-cluster', initial, '--initial-cluster-token', path.basename(directory)],
        ...['--logger', 'zap', '--log-level', 'error', ...FAST, ...flags],
      ];
      if (tls) args.push('--cert-file', tls.cert, '--key-file', tls.key);
      if (tls) args.push('--trusted-ca-file', tls.ca, '--client-cert-auth');
      return { url, args, child: undefined, output: '' };
    });
    const cluster = new EtcdCluster(members, directory, cleanUp, tls);
    try {
      for (let i = 0; i < count; i++) cluster.spawn(i);
      await cluster.ready();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  get urls(): readonly string[] {
    return this.members.map(({ url }) => url);
  }

  /** Of the members that run. */
  get pids(): readonly number[] {
    return this.members.flatMap(({ child }) =>
      child?.pid !== undefined && isRunning(child) ? [child.pid] : [],
    );
  }

  /** Ends a member at once, as a power cut would. */
  async kill(index: number): Promise<void> {
    const { child } = this.member(index);
    if (child === undefined || !isRunning(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    this.cleanUp.drop('process', child.pid ?? 0);
  }

  /**
   * Resolves when the member stands still in the middle of whatever it does; its connections stay
   * open.
   */
  async pause(index: number): Promise<void> {
    const { child } = this.member(index);
    if (child?.pid === undefined) return;
    child.kill('SIGSTOP');
    // The signal stops one thread after another, and one that still runs may answer.
    while (isRunning(child) && !isStopped(child.pid)) await pause(LOOK_MS);
  }

  resume(index: number): void {
    this.member(index).child?.kill('SIGCONT');
  }

  /** Starts a member that was killed, on its own data. */
  async restart(index: number): Promise<void> {
    await this.kill(index);
    this.spawn(index);
    await this.ready();
  }

  /** All members end, something is put in the place of each one's data, and they start. */
  async replaced(put: (flags: readonly string[]) => void): Promise<void> {
    for (const [i, { args }] of this.members.entries()) {
      await this.kill(i);
      put(args);
    }
    for (let i = 0; i < this.members.length; i++) this.spawn(i);
    await this.ready();
  }

  /** @returns the index of etcd's own leader. */
  async leader(): Promise<number> {
    const told = await Promise.all(this.urls.map((url) => this.statusOf(url)));
    return told.findIndex((status) => status !== undefined && status.member === status.leader);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (let i = 0; i < this.members.length; i++) await this.kill(i);
    await this.cleanUp.close();
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  private member(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new Error(`there is no member ${index}`);
    return member;
  }

  private spawn(index: number): void {
    if (this.isClosed) throw new Error('the cluster was closed');
    const member = this.member(index);
    const child = spawn('etcd', [...member.args], {
      env: { PATH: process.env['PATH'], ...this.cleanUp.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (data: Buffer): void => {
      member.output = (member.output + data.toString('utf8')).slice(-KEPT_OUTPUT);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => keep(Buffer.from(error.message)));
    member.child = child;
    if (child.pid !== undefined) this.cleanUp.add('process', child.pid);
  }

  /** Every member that was started and not killed answers and knows a leader. */
  private async ready(): Promise<void> {
    const giveUpAt = performance.now() + READY_MS;
    const started = this.members.filter(({ child }) => child?.signalCode === null);
    while (
      performance.now() < giveUpAt &&
      started.every(({ child }) => child && isRunning(child))
    ) {
      const told = await Promise.all(started.map(({ url }) => this.statusOf(url)));
      if (told.every((status) => Number(status?.leader ?? 0) !== 0)) return;
      await pause(LOOK_MS);
    }
    const said = this.members.map(({ output }, i) => `m${i}: ${output}`).join('\n');
    throw new Error(`etcd is not ready: ${said}`);
  }

  private async statusOf(url: string) {
    const { tls } = this;
    const files = tls && {
      ca: fs.readFileSync(tls.ca),
      cert: fs.readFileSync(tls.cert),
      key: fs.readFileSync(tls.key),
    };
    const etcd = openEtcd({ urls: [url], callMs: 1_000, ...files });
    try {
      return (await etcd.status())[0];
    } finally {
      etcd.close();
    }
  }
}

/** @returns whether each thread of the process stands still, by the letter of its state. */
function isStopped(pid: number): boolean {
  try {
    return fs.readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = fs.readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
    });
  } catch {
    return false; // A thread ended meanwhile.
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** @throws Error when etcd is not installed and ETCD_REQUIRED=1 says that it must be */
export function hasEtcd(): boolean {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    if (process.env['ETCD_REQUIRED'] === '1') throw new Error('etcd is not installed');
    return false;
  }
}

/** Skips the test, visibly, where etcd is not installed. @throws Error where it must be. */
export function needEtcd(test: Mocha.Context): void {
  if (!hasEtcd()) skip(test, 'etcd is missing (apt-get install etcd-server)');
}

/**
 * A suite with a cluster of its own; skipped with a line that says so where etcd is not installed,
 * unless ETCD_REQUIRED=1 says that it must be.
 */
export function withEtcd(
  title: string,
  options: ClusterOptions | (() => ClusterOptions),
  suite: (cluster: () => EtcdCluster) => void,
): void {
  describe(title, () => {
    let cluster: EtcdCluster | undefined;
    before(async function () {
      this.timeout(2 * READY_MS);
      needEtcd(this);
      cluster = await EtcdCluster.start(typeof options === 'function' ? options() : options);
    });
    after(() => cluster?.close());
    suite(() => cluster as EtcdCluster);
  });
}
