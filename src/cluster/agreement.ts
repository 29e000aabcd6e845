// Owns the value of the key `meta`: what all nodes of a cluster must agree on. A node that would
// decide by other settings could change, at a takeover, what was promised to a worker.

import { jsonBytes, numberIn, readStrictly, textIn } from '../log/etcd/strict-json.ts';
import { type CoreKnobs, DECIDING } from '../model/knobs.ts';
import { FORMAT_VERSION } from '../model/records.ts';
import { ClusterError } from './cluster-error.ts';

export type AgreedKnobs = Pick<CoreKnobs, (typeof DECIDING)[number]>;

export interface Agreement {
  /** Random: names the log that the cluster agrees on. */
  readonly log: string;
  /** Of the records; a node of an older build does not follow a newer one. */
  readonly format: number;
  readonly knobs: AgreedKnobs;
}

export const agreedOf = (knobs: AgreedKnobs): AgreedKnobs =>
  Object.fromEntries(DECIDING.map((name) => [name, knobs[name]])) as AgreedKnobs;

export const encodeAgreement = ({ log, format, knobs }: Agreement): Uint8Array =>
  jsonBytes({ log, format, knobs: agreedOf(knobs) });

/** @throws LogError LOG_STORE */
export const decodeAgreement = (bytes: Uint8Array): Agreement =>
  readStrictly('meta', bytes, (fields) => ({
    log: textIn(fields, 'log'),
    format: numberIn(fields, 'format'),
    knobs: agreedOf(fields['knobs'] as AgreedKnobs),
  }));

/** @throws ClusterError when this node would decide otherwise than the cluster does. */
export function assertAgreed({ format, knobs }: Agreement, own: AgreedKnobs): void {
  if (format > FORMAT_VERSION) {
    const versions = `format ${format}, and this build knows the format ${FORMAT_VERSION}`;
    throw new ClusterError('CLUSTER_FORMAT', `the records of the cluster have the ${versions}`);
  }
  const name = DECIDING.find((one) => knobs[one] !== own[one]);
  if (name === undefined) return;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new ClusterError(
    'CLUSTER_KNOBS',
    `${flag} is ${own[name]} here and ${knobs[name]} in the cluster; all nodes must have the ` +
      'same value. `leasehold cluster agree` changes that of the cluster',
  );
}
