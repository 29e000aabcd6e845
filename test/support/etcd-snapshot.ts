// Owns what an operator does to an etcd with etcdctl: saving it, and restoring it.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { EtcdCluster } from './etcd-cluster.ts';
import { skip } from './skip.ts';

export const etcdctl = (...args: string[]): void => {
  const env = { ...process.env, ETCDCTL_API: '3' };
  execFileSync('etcdctl', args, { env, stdio: 'ignore' });
};

/** Skips the test, visibly, where etcdctl is not installed. */
export function needEtcdctl(test: Mocha.Context): void {
  try {
    etcdctl('version');
  } catch {
    skip(test, 'etcdctl is missing (apt-get install etcd-client)');
  }
}

export function saveSnapshot(etcd: EtcdCluster, file: string): void {
  etcdctl('--endpoints', String(etcd.urls[0]), 'snapshot', 'save', file);
}

/** Everything since is forgotten, and the same revisions are given out again. */
export async function restoreSnapshot(etcd: EtcdCluster, file: string): Promise<void> {
  await etcd.replaced((flags) => {
    const valueOf = (name: string): string => String(flags[flags.indexOf(name) + 1]);
    rmSync(valueOf('--data-dir'), { recursive: true });
    const names = ['--name', '--data-dir', '--initial-cluster', '--initial-cluster-token'];
    const kept = [...names, '--initial-advertise-peer-urls'].flatMap((name) => [
      name,
      valueOf(name),
    ]);
    etcdctl('snapshot', 'restore', file, ...kept);
  });
}
