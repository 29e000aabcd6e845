// Owns the metrics of a node of a cluster, made from what `GET /v1/cluster` shows. A server without
// a cluster has none of them.

import type { ClusterView } from '../model/cluster-view.ts';
import type { Exposition } from './exposition.ts';

export function addCluster(out: Exposition, view: ClusterView): void {
  const { role, epoch, lag, trouble, nodes, last_sequence, etcd } = view;
  out.set('leasehold_cluster_leads', role === 'leader' ? 1 : 0);
  out.set('leasehold_cluster_epoch', epoch);
  out.set('leasehold_cluster_lag_records', lag);
  out.set('leasehold_cluster_etcd_trouble', trouble === undefined ? 0 : 1);
  out.set('leasehold_cluster_nodes', nodes.length);
  addCounts(out, view.counts);
  if (role !== 'leader') return;
  for (const { node, mirrored } of nodes) {
    const behind = Math.max(0, last_sequence - mirrored);
    out.set('leasehold_cluster_node_lag_records', behind, { node });
  }
  out.set('leasehold_cluster_etcd_members', etcd?.members);
  out.set('leasehold_cluster_etcd_database_bytes', etcd?.database_bytes);
  out.set('leasehold_cluster_etcd_quota_bytes', etcd?.quota_bytes);
  out.set('leasehold_cluster_refuses_tasks', view.refusing === undefined ? 0 : 1);
  out.set('leasehold_cluster_trimmed_sequence', etcd?.trimmed);
  out.set('leasehold_cluster_trimmed_holders', etcd?.holders);
}

function addCounts(out: Exposition, counts: ClusterView['counts']): void {
  if (counts === undefined) return;
  for (const [result, count] of Object.entries(counts.elections)) {
    out.set('leasehold_cluster_elections_total', count, { result });
  }
  for (const [outcome, count] of Object.entries(counts.resolved)) {
    out.set('leasehold_cluster_commits_unanswered_total', count, { outcome });
  }
  for (const [code, count] of Object.entries(counts.etcd_errors)) {
    out.set('leasehold_cluster_etcd_errors_total', count, { code });
  }
}
