// Owns the reasons for which a node of a cluster ends by itself; each is one sentence for the
// operator, with a way out.

export type ClusterErrorCode =
  /** Another node leads: this one ends, and follows when it is started again. */
  | 'NOT_LEADER'
  /** This node was elected and could not begin to lead. */
  | 'NOT_STARTED'
  /** etcd has no cluster of this name. */
  | 'CLUSTER_UNKNOWN'
  /** etcd has a cluster of this name already. */
  | 'CLUSTER_EXISTS'
  /** The data directory belongs to a server without a cluster, or to another cluster. */
  | 'CLUSTER_MIRROR'
  /** A knob that all nodes must share has another value here. */
  | 'CLUSTER_KNOBS'
  | 'CLUSTER_FORMAT'
  /** What an operator asked for is not done: it would harm. */
  | 'CLUSTER_REFUSED'
  /** Another node has this name. */
  | 'NODE_NAME';

export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  readonly code: ClusterErrorCode;
  constructor(code: ClusterErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
