// Owns the list of the nodes that run, as etcd has it; looked up again and again while this node
// runs.

import type { Etcd } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import type { ClusterNodeView } from '../model/cluster-view.ts';
import { readNodes } from './reports.ts';
import { pause, type Time } from './time.ts';

const LOOK_MS = 1_000;
/** Looks without an answer, one after the other. */
const TROUBLE_AFTER = 2;

export class RunningNodes {
  /** Empty while etcd does not answer. */
  nodes: readonly ClusterNodeView[] = [];
  /** Why etcd was not heard of late, in words; undefined: it answers. */
  trouble: string | undefined;
  private readonly ending = new AbortController();
  private going: Promise<void> = Promise.resolve();

  /** @param changed told after each look */
  begin(etcd: Pick<Etcd, 'txn'>, keys: Keys, time: Time, changed: () => void): void {
    this.going = this.goOn(etcd, keys, time, changed);
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.going;
  }

  private async goOn(
    etcd: Pick<Etcd, 'txn'>,
    keys: Keys,
    time: Time,
    changed: () => void,
  ): Promise<void> {
    const { signal } = this.ending;
    for (let failed = 0; !signal.aborted; ) {
      const found = await readNodes(etcd, keys).catch((error: Error) => error);
      const isFound = Array.isArray(found);
      failed = isFound ? 0 : failed + 1;
      // etcd does not answer for a moment while it elects.
      this.trouble = isFound || failed < TROUBLE_AFTER ? undefined : found.message;
      this.nodes = (isFound ? found : []).flatMap(({ node, report }) =>
        report === undefined ? [] : [{ node, url: report.url, mirrored: report.mirrored }],
      );
      changed();
      await pause(time, LOOK_MS, signal);
    }
  }
}
