// Owns the values of the keys `trim` and `frozen`: which part of the log etcd does not hold any
// more, and who saw that etcd had been set back.

import { jsonBytes, numberIn, readStrictly, textIn } from './strict-json.ts';

export interface TrimMark {
  /** Groups up to this record may be deleted in etcd; what they held lies in the mirrors. */
  readonly through: number;
  /** The checksum with which that record's bytes begin. */
  readonly check: number;
}

export const encodeTrimMark = ({ through, check }: TrimMark): Uint8Array =>
  jsonBytes({ through, check });

/** @throws LogError LOG_STORE */
export const decodeTrimMark = (bytes: Uint8Array): TrimMark =>
  readStrictly('trim', bytes, (fields) => ({
    through: numberIn(fields, 'through'),
    check: numberIn(fields, 'check'),
  }));

/** While it stands nobody becomes the writer: records that were acknowledged are not in etcd. */
export interface Frozen {
  readonly by: string;
  /** The last record that this node holds. */
  readonly last: number;
  /** Where etcd ended. */
  readonly head: number;
}

export const encodeFrozen = ({ by, last, head }: Frozen): Uint8Array =>
  jsonBytes({ by, last, head });

/** @throws LogError LOG_STORE */
export const decodeFrozen = (bytes: Uint8Array): Frozen =>
  readStrictly('frozen', bytes, (fields) => ({
    by: textIn(fields, 'by'),
    last: numberIn(fields, 'last'),
    head: numberIn(fields, 'head'),
  }));

export const frozenText = ({ by, last, head }: Frozen): string =>
  `the node ${by} holds record ${last}, and etcd ended at record ${head}: etcd was set back`;

/**
 * @param last the last record that this node holds
 * @param head the last record of etcd, undefined when it has no log
 */
export function setBackText(last: number, head: number | undefined): string {
  const where = head === undefined ? 'has no log' : `ends at record ${head}`;
  return (
    `this node holds record ${last}, and etcd ${where}: etcd was set back. No node starts any ` +
    'more; `leasehold cluster init --from DIR`, with the directory of the node that holds most, ' +
    'makes the log that goes on'
  );
}
