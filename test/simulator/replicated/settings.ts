// Owns what a run of the replicated simulator is made of: the settings of the simple one, and those
// of a cluster. All of it follows from the seed.

import type { NetworkTroubles } from '../../support/etcd/faulty-network.ts';
import { Random } from '../random.ts';
import { type Settings, settingsOf } from '../settings.ts';

/** Probabilities for one event; 0 switches the kind off. */
export interface ClusterTroubles {
  /** A process dies. */
  readonly kill: number;
  /** A machine starts anew. */
  readonly reboot: number;
  /** Every process and machine at once. */
  readonly blackout: number;
  /** Somebody tries to lead, although somebody leads. */
  readonly elect: number;
  /** A leader stops as on SIGTERM. */
  readonly stop: number;
  readonly partition: number;
  readonly majorityLost: number;
  readonly noSpace: number;
  readonly compact: number;
  readonly clockStops: number;
  readonly wallStep: number;
  readonly jump: number;
  /** A dead machine's disk is lost. */
  readonly wipe: number;
  readonly leave: number;
  /** Somebody asks the leader again and again while another one takes over. */
  readonly doubt: number;
}

export interface ClusterSettings extends Settings {
  readonly machines: number;
  /** Following and elections are the product's own; else they are as wrong as they like. */
  readonly isProduct: boolean;
  readonly cluster: ClusterTroubles;
  readonly etcd: NetworkTroubles;
  /** What a message to etcd takes in ms, each as likely as it often stands here. */
  readonly etcdDelays: readonly number[];
  /** A tail of more bytes is trimmed beyond absent nodes. */
  readonly tailMaxBytes: number;
  readonly trimEveryMs: number;
  /** Bytes of a group that lie under one key. */
  readonly pieceBytes: number;
}

export function clusterSettingsOf(seed: number, records: number): ClusterSettings {
  const dice = (name: string): Random => new Random(seed, `cluster ${name}`);
  const pick = <T>(name: string, items: readonly T[]): T => dice(name).pick(items);
  const rate = (name: string, usual: number): number => {
    const own = dice(name);
    return own.chance(0.3) ? 0 : usual * own.pick([0.3, 1, 3]);
  };
  const base = settingsOf(seed, records);
  return {
    ...base,
    backlog: Math.min(base.backlog, 60),
    isProduct: dice('product').chance(0.4),
    machines: pick('machines', [2, 2, 2, 3, 3, 5]),
    cluster: {
      kill: rate('kill', 0.0003),
      reboot: rate('reboot', 0.0001),
      blackout: rate('blackout', 0.00002),
      elect: rate('elect', 0.0006),
      stop: rate('stop', 0.0001),
      partition: rate('partition', 0.0003),
      majorityLost: rate('majorityLost', 0.0001),
      noSpace: rate('noSpace', 0.00005),
      compact: rate('compact', 0.001),
      clockStops: rate('clockStops', 0.0003),
      wallStep: rate('wallStep', 0.0005),
      jump: rate('jump', 0.0002),
      wipe: rate('wipe', 0.001),
      leave: rate('leave', 0.001),
      doubt: dice('doubt').chance(0.7) ? 1 : 0,
    },
    etcd: {
      requestLost: rate('requestLost', 0.005),
      answerLost: rate('answerLost', 0.005),
      requestLate: rate('requestLate', 0.005),
      requestDoubled: rate('requestDoubled', 0.01),
      watchEnds: rate('watchEnds', 0.001),
      watchSilent: rate('watchSilent', 0.0003),
    },
    etcdDelays: pick('etcdDelays', [[0], [0, 1, 1, 2], [1, 2, 5, 20]]),
    tailMaxBytes: pick('tailMaxBytes', [3_000, 20_000, 100_000, 1e9]),
    trimEveryMs: pick('trimEveryMs', [200, 1_000, 5_000, 10_000]),
    pieceBytes: pick('pieceBytes', [200, 1_000, 1_000_000]),
  };
}
