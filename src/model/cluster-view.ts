// Owns the words of `GET /v1/cluster`: what a node tells of itself, of the leader, and of the other
// nodes.

export interface ClusterView {
  /** `leader` decides requests; `follower` keeps a copy of the log and can take over. */
  readonly role: 'leader' | 'follower';
  readonly cluster: string;
  readonly node: string;
  readonly url: string;
  /** The node that leads as far as this node knows; absent when it knows of none. */
  readonly leader?: { readonly node: string; readonly url: string };
  /** Number of the CoordinatorStarted with which the present leader began; 0: not known. */
  readonly epoch: number;
  /** The newest record that this node's own log holds. */
  readonly last_sequence: number;
  /** Records that the cluster has and this node has not yet; absent: not known yet. */
  readonly lag?: number;
  /** What keeps this node from more, in words; absent when nothing does. */
  readonly trouble?: string;
  /** Why the leader takes no new tasks, in words; absent when it does. */
  readonly refusing?: string;
  /** Since the process began. */
  readonly counts?: ClusterCounts;
  readonly nodes: readonly ClusterNodeView[];
  /** What the leader knows of etcd; looked at every ten seconds at least. */
  readonly etcd?: {
    /** Up to this record etcd may have deleted what the nodes hold. */
    readonly trimmed: number;
    /** Machines with a running node that holds all of that; absent: etcd has the whole log. */
    readonly holders?: number;
    /** What is in use of the fullest member's database. */
    readonly database_bytes: number;
    /** The least of the members' quotas; absent when they do not tell it. */
    readonly quota_bytes?: number;
    /** Members that answer. */
    readonly members: number;
  };
}

export interface ClusterCounts {
  /** Times that this node tried to lead. */
  readonly elections: { readonly won: number; readonly lost: number };
  /** Groups of records that etcd did not answer at once, by what became of them. */
  readonly resolved: {
    readonly durable: number;
    readonly resent: number;
    readonly unknown: number;
  };
  /** Errors of calls to etcd, by kind. */
  readonly etcd_errors: Readonly<Record<string, number>>;
}

/** A node that has given a sign of life within the last seconds. */
export interface ClusterNodeView {
  readonly node: string;
  readonly url: string;
  /** The newest record that is flushed in this node's own log. */
  readonly mirrored: number;
}

/** What a node shows before it knows anything of the others. */
export const firstView = (own: Pick<ClusterView, 'cluster' | 'node' | 'url'>): ClusterView => ({
  role: 'follower',
  cluster: own.cluster,
  node: own.node,
  url: own.url,
  epoch: 0,
  last_sequence: 0,
  nodes: [],
});

/** What a server without a cluster shows. */
export const SINGLE = { role: 'single' } as const;
