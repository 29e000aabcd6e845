// Owns the value of the key `leader`: which node leads or is about to, and which time its
// coordinator has. The value is advice for the other nodes. Whether a node may write the log is
// decided by `head` alone.

import { jsonBytes, numberIn, readStrictly, textIn } from '../log/etcd/strict-json.ts';

export interface Beat {
  readonly node: string;
  /** Where clients reach the node. */
  readonly url: string;
  /** Random, another one for each run of the process. */
  readonly run: string;
  /**
   * Number of the CoordinatorStarted with which the node began to lead; 0: it does not lead yet.
   */
  readonly epoch: number;
  /** Coordinator time when the beat was sent; 0 as long as the node does not lead. */
  readonly at: number;
}

export const encodeBeat = ({ node, url, run, epoch, at }: Beat): Uint8Array =>
  jsonBytes({ node, url, run, epoch, at });

/** @throws LogError LOG_STORE */
export const decodeBeat = (bytes: Uint8Array): Beat =>
  readStrictly('leader', bytes, (fields) => ({
    node: textIn(fields, 'node'),
    url: textIn(fields, 'url'),
    run: textIn(fields, 'run'),
    epoch: numberIn(fields, 'epoch'),
    at: numberIn(fields, 'at'),
  }));
