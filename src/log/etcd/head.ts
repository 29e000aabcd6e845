// Owns the value of the key `head`: where the log ends, and who may write on. Every append replaces
// it on the condition that it still is what the writer last wrote there, so it decides both what
// happened and who leads.

import { jsonBytes, numberIn, readStrictly, textIn } from './strict-json.ts';

export interface Head {
  /** Number of the CoordinatorStarted of the newest leader; 0: nobody has led yet. */
  readonly epoch: number;
  /** Number of the last record, 0 for an empty log. */
  readonly last: number;
  /** The checksum with which that record's bytes begin, 0 for an empty log. */
  readonly check: number;
  /** Random, another one for each process that writes; empty: nobody has written yet. */
  readonly writer: string;
  /** So many numbers the first start leaves out: the log goes on after a restored one. */
  readonly gap?: number;
}

export const encodeHead = ({ epoch, last, check, writer, gap }: Head): Uint8Array =>
  jsonBytes({ epoch, last, check, writer, ...(gap === undefined ? {} : { gap }) });

/** @throws LogError LOG_STORE */
export const decodeHead = (bytes: Uint8Array): Head =>
  readStrictly('head', bytes, (fields) => ({
    epoch: numberIn(fields, 'epoch'),
    last: numberIn(fields, 'last'),
    check: numberIn(fields, 'check'),
    writer: textIn(fields, 'writer'),
    ...(fields['gap'] === undefined ? {} : { gap: numberIn(fields, 'gap', 1) }),
  }));
