// The view of the cluster that the coordinator's thread shares with the others.

import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Progress } from '../../actors/shared/progress.ts';
import type { ClusterView } from '../../src/model/cluster-view.ts';

const view = (epoch: number, more: Partial<ClusterView> = {}): ClusterView => ({
  role: 'follower',
  cluster: 'orders',
  node: 'b',
  url: 'http://b',
  epoch,
  last_sequence: 1,
  lag: 0,
  nodes: [],
  ...more,
});

describe('the view of the cluster', () => {
  it('is none on a server without a cluster', () => {
    expect(new Progress(Progress.share()).cluster.read()).to.equal(undefined);
  });

  it('is what was written last, and the same object until it is written again', () => {
    const share = Progress.share();
    const [writer, reader] = [new Progress(share), new Progress(share)];
    writer.phase = 'following';
    writer.durable = 7;
    writer.cluster.write(view(1, { leader: { node: 'ä', url: 'http://a' } }));
    const first = reader.cluster.read();
    expect(first).to.deep.equal(view(1, { leader: { node: 'ä', url: 'http://a' } }));
    expect(reader.cluster.read()).to.equal(first);
    writer.cluster.write(view(2));
    expect(reader.cluster.read()).to.deep.equal(view(2));
    expect([reader.phase, reader.durable]).to.deep.equal(['following', 7]);
  });

  it('leaves out the nodes of a cluster that is too large for it', () => {
    const progress = new Progress(Progress.share());
    const node = { node: 'n'.repeat(60), url: 'http://'.padEnd(200, 'u'), mirrored: 1 };
    progress.cluster.write(view(1, { nodes: Array.from({ length: 100 }, () => node) }));
    expect(progress.cluster.read()).to.deep.equal(view(1));
  });

  it('is never half of one view and half of another, while another thread writes', async () => {
    const share = Progress.share();
    const { cluster } = new Progress(share);
    cluster.write(view(0));
    const file = new URL('../../actors/shared/progress.js', import.meta.url).href;
    const code = `
      const { workerData } = require('node:worker_threads');
      import(${JSON.stringify(file)}).then(({ Progress }) => {
        const { cluster } = new Progress(workerData.share);
        const view = workerData.view;
        for (let n = 1; n <= 20000; n += 1) {
          const text = String(n).repeat(1 + (n % 50));
          cluster.write({ ...view, epoch: n, trouble: text });
        }
      });`;
    const worker = new Worker(code, { eval: true, workerData: { share, view: view(0) } });
    const over = new Promise((resolve) => worker.once('exit', resolve));
    let seen = 0;
    for (let last = 0; last < 20_000; ) {
      const read = cluster.read() as ClusterView;
      if (read.epoch === last) {
        await new Promise(setImmediate);
        continue;
      }
      expect(read.epoch).to.be.greaterThan(last);
      expect(read.trouble).to.equal(String(read.epoch).repeat(1 + (read.epoch % 50)));
      last = read.epoch;
      seen += 1;
    }
    await over;
    expect(seen).to.be.greaterThan(10);
  });
});
