// Owns the members of etcd that a lab runs: real processes on free ports of this machine, in the
// lab's own directory. A guardian ends them when the lab itself is killed.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEtcd } from '../log/etcd/grpc-etcd.ts';
import { freePort } from '../play/demo/processes.ts';
import type { CleanUp } from '../rehearse/clean-up.ts';
import { CliError, EXIT } from './command.ts';

const READY_MS = 30_000;
const AGAIN_MS = 3_000;
/** A lost member is noticed within a second; etcd's defaults are ten times as long. */
const FAST = ['--heartbeat-interval', '50', '--election-timeout', '500', '--pre-vote'];

interface Member {
  readonly name: string;
  readonly url: string;
  readonly args: readonly string[];
  child?: ChildProcess;
}

export interface MemberLine {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

export class LabEtcd {
  private readonly members: readonly Member[];
  private readonly cleanUp: CleanUp;
  private readonly said: (text: string) => void;
  private isOver = false;

  private constructor(members: readonly Member[], cleanUp: CleanUp, said: (text: string) => void) {
    this.members = members;
    this.cleanUp = cleanUp;
    this.said = said;
  }

  /** @throws CliError when etcd is not installed or does not come up */
  static async start(dir: string, cleanUp: CleanUp, said: (text: string) => void) {
    assertInstalled();
    const ports: [client: number, peer: number][] = [];
    for (let n = 0; n < 3; n += 1) ports.push([await freePort(), await freePort()]);
    const initial = ports.map(([, peer], n) => `m${n}=http://127.0.0.1:${peer}`).join();
    const members = ports.map(([client, peer], n): Member => {
      const [url, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
      const args = [
        ...['--name', `m${n}`, '--data-dir', path.join(dir, `etcd-m${n}`), '--logger', 'zap'],
        ...['--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', initial, '--initial-cluster-token', path.basename(dir), ...FAST],
      ];
      return { name: `m${n}`, url, args };
    });
    const etcd = new LabEtcd(members, cleanUp, said);
    for (const member of members) etcd.spawn(member);
    await etcd.ready();
    return etcd;
  }

  get urls(): readonly string[] {
    return this.members.map(({ url }) => url);
  }

  get lines(): readonly MemberLine[] {
    return this.members.map(({ name, url, child }) => ({ name, url, pid: child?.pid ?? 0 }));
  }

  stop(): void {
    this.isOver = true;
    for (const { child } of this.members) child?.kill('SIGKILL');
  }

  private spawn(member: Member): void {
    const env = { PATH: process.env['PATH'], ...this.cleanUp.environment };
    const child = spawn('etcd', [...member.args], { env, stdio: 'ignore' });
    member.child = child;
    if (child.pid !== undefined) this.cleanUp.add('process', child.pid);
    child.once('exit', () => {
      this.cleanUp.drop('process', child.pid ?? 0);
      if (!this.isOver) void this.again(member);
    });
  }

  /** As a service manager would. */
  private async again(member: Member): Promise<void> {
    this.said(`etcd ${member.name} is gone; it is started again in ${AGAIN_MS / 1_000} s`);
    await pause(AGAIN_MS);
    if (this.isOver) return;
    this.spawn(member);
    this.said(`etcd ${member.name} runs again, process ${member.child?.pid}`);
  }

  private async ready(): Promise<void> {
    const etcd = openEtcd({ urls: this.urls, callMs: 1_000 });
    try {
      for (const until = performance.now() + READY_MS; performance.now() < until; ) {
        const told = await etcd.status();
        if (told.length === 3 && told.every(({ leader }) => Number(leader) !== 0)) return;
        await pause(100);
      }
    } finally {
      etcd.close();
    }
    throw new CliError(EXIT.failed, 'leasehold: etcd did not come up');
  }
}

function assertInstalled(): void {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore' });
  } catch {
    const how = 'on Debian and Ubuntu: apt-get install etcd-server etcd-client';
    throw new CliError(EXIT.failed, `leasehold: etcd is not installed (${how})`);
  }
}
