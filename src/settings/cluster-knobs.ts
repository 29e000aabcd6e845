// Owns the knobs of a node of a cluster: rows of the one table of knobs. They count only where
// `etcd` is given. What they must be together is in cluster-settings.ts.

import { bytes, duration, type Knob, MEBIBYTE, text } from './knob.ts';

export interface ClusterKnobValues {
  readonly etcd: string | undefined;
  readonly clusterName: string | undefined;
  readonly nodeName: string | undefined;
  readonly advertiseUrl: string | undefined;
  readonly etcdCaFile: string | undefined;
  readonly etcdCertFile: string | undefined;
  readonly etcdKeyFile: string | undefined;
  readonly etcdUserFile: string | undefined;
  readonly etcdCallMs: number;
  readonly leaderSilenceMs: number;
  readonly leaderBeatMs: number;
  readonly tailMaxBytes: number;
}

export const CLUSTER_KNOBS: Readonly<Record<keyof ClusterKnobValues, Knob>> = {
  etcd: text(
    undefined,
    'URLs of the members of etcd, with commas between them; with these, serve runs a node',
  ),
  clusterName: text(undefined, 'the name of the cluster; needed with --etcd'),
  nodeName: text(undefined, 'the name of this node in its cluster; needed with --etcd'),
  advertiseUrl: text(
    undefined,
    'URL at which clients and other nodes reach this node; needed with --etcd',
  ),
  etcdCaFile: text(undefined, 'file with the authority that signed the certificates of etcd (PEM)'),
  etcdCertFile: text(undefined, 'file with the certificate that this program shows to etcd (PEM)'),
  etcdKeyFile: text(undefined, 'file with the key of that certificate (PEM)'),
  etcdUserFile: text(undefined, 'file with USER:PASSWORD for etcd'),
  etcdCallMs: duration(1, 500, 'how long one call to a member of etcd may take'),
  leaderSilenceMs: duration(
    1,
    1_500,
    'how long the leader may be silent until another node tries to lead; at least 500ms, 3 beats',
  ),
  leaderBeatMs: duration(1, 300, 'pause between two beats, the signs of life of the leader'),
  tailMaxBytes: bytes(
    16 * MEBIBYTE,
    2 ** 36,
    512 * MEBIBYTE,
    'how much of the log etcd keeps for nodes that are down; a node that misses more must copy it',
  ),
};
