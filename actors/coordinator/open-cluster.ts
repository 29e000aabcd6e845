// Owns how a node of a cluster begins: it waits for etcd, refuses what does not belong together,
// and opens its own copy of the log. It is loaded only where etcd is named.

import { randomUUID } from 'node:crypto';
import { type Agreement, assertAgreed } from '../../src/cluster/agreement.ts';
import { etcdOptions } from '../../src/cluster/etcd-options.ts';
import { assertOfCluster, joined, readAgreement } from '../../src/cluster/joining.ts';
import { pause } from '../../src/cluster/time.ts';
import { openArchive } from '../../src/log/archive.ts';
import { type Etcd, EtcdError } from '../../src/log/etcd/etcd.ts';
import { openEtcd } from '../../src/log/etcd/grpc-etcd.ts';
import { type Keys, keysOf } from '../../src/log/etcd/keys.ts';
import { MeteredEtcd } from '../../src/log/etcd/metered-etcd.ts';
import { Resolved } from '../../src/log/etcd/tail-options.ts';
import { openLmdbLog } from '../../src/log/lmdb-log.ts';
import { firstView } from '../../src/model/cluster-view.ts';
import type { ClusterSettings } from '../../src/settings/cluster-settings.ts';
import { ClusterStore, NodeLog } from './cluster-store.ts';
import { line, time } from './node-time.ts';
import type { Store, StoreSeams } from './store.ts';

/** How often an etcd that does not answer at the start is asked again. */
const ASK_AGAIN_MS = 1_000;
/** A failover takes as long as the silence and a start; a lease should outlast several of them. */
const LEASE_SHORT_MS = 10_000;
/** So long an append goes on without an answer of etcd. */
const UNANSWERED_MAX_MS = 10_000;

const NO_ANSWER = 'etcd does not answer; this node waits';

/** @returns undefined: the signal aborted before. @throws LogError, LogCorrupt, ClusterError */
export async function openClusterStore(
  seams: StoreSeams,
  settings: ClusterSettings,
): Promise<Store | undefined> {
  const { data, progress, signal } = seams;
  progress.phase = 'following';
  const { cluster } = settings;
  assertOfCluster(data.dataDir, cluster);
  const etcd = new MeteredEtcd(openEtcd(etcdOptions(settings)));
  const keys = keysOf(cluster);
  const show = (trouble?: string): void =>
    progress.cluster.write({
      ...firstView(settings),
      ...(trouble === undefined ? {} : { trouble }),
    });
  show();
  seams.say({ kind: 'following' });
  try {
    const agreement = await agreed(etcd, keys, seams, settings, show);
    if (agreement === undefined || signal.aborted) {
      etcd.close();
      return undefined;
    }
    assertAgreed(agreement, data.core);
    return await openCopy(seams, settings, { etcd, keys, agreement });
  } catch (error) {
    etcd.close();
    throw error;
  }
}

/** Asks etcd until it answers. @returns undefined: the signal aborted before. */
async function agreed(
  etcd: Etcd,
  keys: Keys,
  { say, signal, data }: StoreSeams,
  { cluster }: ClusterSettings,
  show: (trouble?: string) => void,
): Promise<Agreement | undefined> {
  const { leaseDurationMs } = data.core;
  if (leaseDurationMs < LEASE_SHORT_MS) {
    const msg = 'leases may run out while another node takes over: their duration is short';
    say(line('warn', msg, { lease_duration_ms: leaseDurationMs, advised_ms: LEASE_SHORT_MS }));
  }
  for (let wasTold = false; !signal.aborted; ) {
    try {
      return await readAgreement(etcd, keys, cluster);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      show(error.message);
      const isRefused = error.code === 'denied';
      const msg = isRefused ? 'etcd refuses this node; it waits' : NO_ANSWER;
      if (!wasTold) say(line('warn', msg, { why: error.message }));
      wasTold = true;
    }
    await pause(time, ASK_AGAIN_MS, signal);
  }
  return undefined;
}

interface Found {
  readonly etcd: MeteredEtcd;
  readonly keys: Keys;
  readonly agreement: Agreement;
}

async function openCopy(
  seams: StoreSeams,
  settings: ClusterSettings,
  { etcd, keys, agreement }: Found,
): Promise<Store> {
  const { data, onCommit } = seams;
  const { dataDir, archiveDir, segmentBytes } = data;
  const mirror = await openLmdbLog({ dataDir, segmentBytes, onCommit });
  try {
    const note = joined(
      dataDir,
      mirror.lastNumber,
      { cluster: settings.cluster, log: agreement.log },
      randomUUID,
    );
    const run = randomUUID();
    const resolved = new Resolved();
    const of = { etcd, keys, mirror, time, resolved };
    const log = new NodeLog({
      ...of,
      writer: run,
      node: settings.node,
      stallMs: UNANSWERED_MAX_MS,
    });
    const archive = archiveDir ? await openArchive(archiveDir, mirror) : undefined;
    return new ClusterStore(seams, settings, {
      ...{ etcd, keys, log, archive, run, resolved, mirror: note.mirror },
    });
  } catch (error) {
    await mirror.close();
    throw error;
  }
}
