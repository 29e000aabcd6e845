// A node whose etcd wants certificates and a password: the files that the knobs name are used, and
// without them the node says that etcd refuses it.

import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { withCertificates } from '../support/certificates.ts';
import { type EtcdCluster, withEtcd } from '../support/etcd-cluster.ts';
import { etcdctl, needEtcdctl } from '../support/etcd-snapshot.ts';
import { isPlayed } from '../support/tier.ts';
import { ClusterStage } from './cluster-stage.ts';

const KINDS = ['TLS', 'a password'];

if (isPlayed('TLS', KINDS)) {
  describe('a node and an etcd with TLS', () => {
    const files = withCertificates();

    withEtcd(
      'and certificates of both',
      () => ({ members: 1, tls: files() }),
      (etcd: () => EtcdCluster) => {
        it('works with the files that the knobs name, and says what it lacks', async () => {
          const { ca, cert, key } = files();
          const shown = ['--etcd-ca-file', ca, '--etcd-cert-file', cert, '--etcd-key-file', key];
          const stage = await ClusterStage.open(etcd(), ['a'], false);
          try {
            const made = await stage.run('init', ...shown);
            expect(made.code, made.err).to.equal(0);
            const stranger = stage.start('a');
            await stage.until('it says so', () => stranger.out.includes('it waits') || undefined);
            stranger.kill('SIGTERM');
            await stranger.ended;
            stage.start('a', shown);
            await stage.leader();
            expect((await stage.run('status', ...shown)).out).to.include('a leads');
          } finally {
            await stage.close();
          }
        });
      },
    );
  });
}

if (isPlayed('a password', KINDS)) {
  withEtcd('a node and an etcd with a password', { members: 1 }, (etcd: () => EtcdCluster) => {
    before(function () {
      const [endpoint] = etcd().urls;
      needEtcdctl(this);
      const control = (...args: string[]): void =>
        etcdctl('--endpoints', String(endpoint), ...args);
      control('user', 'add', 'root:secret');
      control('user', 'grant-role', 'root', 'root');
      control('auth', 'enable');
    });

    it('sends it, and says that etcd refuses a wrong one', async () => {
      const stage = await ClusterStage.open(etcd(), ['a'], false);
      try {
        const [right, wrong] = ['right', 'wrong'].map((name) => path.join(stage.dir, name));
        fs.writeFileSync(String(right), 'root:secret\n');
        fs.writeFileSync(String(wrong), 'root:guess\n');
        const made = await stage.run('init', '--etcd-user-file', String(right));
        expect(made.code, made.err).to.equal(0);
        const stranger = stage.start('a', ['--etcd-user-file', String(wrong)]);
        const refused = () => stranger.out.includes('etcd refuses this node') || undefined;
        await stage.until('it says so', refused);
        stranger.kill('SIGTERM');
        await stranger.ended;
        stage.start('a', ['--etcd-user-file', String(right)]);
        await stage.leader();
      } finally {
        await stage.close();
      }
    });
  });
}
