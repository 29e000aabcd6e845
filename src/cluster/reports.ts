// Owns what stands in etcd of the nodes: the report of each that runs, that a node belongs to the
// cluster, and the holds of copies that are being made. All of it is read at one moment.

import type { Etcd } from '../log/etcd/etcd.ts';
import { type Keys, prefixEnd } from '../log/etcd/keys.ts';
import { jsonBytes, numberIn, readStrictly, textIn } from '../log/etcd/strict-json.ts';
import type { Member } from '../log/etcd/trim.ts';
import { decodeHold, type Hold } from './copy-holds.ts';

export interface NodeReport {
  readonly url: string;
  /** Of its copy of the log (mirror-note.ts). */
  readonly mirror: string;
  /** Of the machine: two copies on one machine burn together. */
  readonly machine: string;
  /** The newest record that is flushed in its copy. */
  readonly mirrored: number;
  readonly version: string;
}

/** A node that belongs to the cluster, whether it runs or not. */
export interface Registration {
  readonly url: string;
  readonly machine: string;
}

export const encodeReport = ({ url, mirror, machine, mirrored, version }: NodeReport): Uint8Array =>
  jsonBytes({ url, mirror, machine, mirrored, version });
export const decodeReport = (key: string, bytes: Uint8Array): NodeReport =>
  readStrictly(key, bytes, (fields) => ({
    url: textIn(fields, 'url'),
    mirror: textIn(fields, 'mirror'),
    machine: textIn(fields, 'machine'),
    mirrored: numberIn(fields, 'mirrored'),
    version: textIn(fields, 'version'),
  }));
export const encodeRegistration = ({ url, machine }: Registration): Uint8Array =>
  jsonBytes({ url, machine });
const decodeRegistration = (key: string, bytes: Uint8Array): Registration =>
  readStrictly(key, bytes, (fields) => ({
    url: textIn(fields, 'url'),
    machine: textIn(fields, 'machine'),
  }));

export const registrationsOf = (keys: Keys): string => `${keys.prefix}members/`;

/** A node of the cluster as it stands in etcd. */
export interface Reported {
  readonly node: string;
  /** Absent: it belongs to the cluster and does not run. */
  readonly report?: NodeReport;
  /** Of the report; 0 without one. */
  readonly revision: number;
  readonly registration?: Registration;
}

/** The node as the rules of trimming look at it. @param silentMs 0 for one that runs */
export const memberOf = ({ node, report, registration }: Reported, silentMs = 0): Member => ({
  node,
  machine: report?.machine ?? registration?.machine ?? node,
  mirrored: report?.mirrored,
  isLive: report !== undefined,
  silentMs,
});

export interface Standing {
  /** In the order of their names. */
  readonly nodes: Reported[];
  readonly holds: readonly Hold[];
}

/** @throws EtcdError, LogError */
export async function readStanding(etcd: Pick<Etcd, 'txn'>, keys: Keys): Promise<Standing> {
  const registered = registrationsOf(keys);
  // A hold is gone as soon as the node on that copy reports: so they are read together.
  const ranges = [keys.nodes, registered, keys.holds].map((get) => ({ get, end: prefixEnd(get) }));
  const { found } = await etcd.txn([], ranges);
  const [reports = [], registrations = [], holds = []] = found;
  const nodes = new Map<string, Reported>();
  for (const { key, value } of registrations) {
    const node = key.slice(registered.length);
    nodes.set(node, { node, revision: 0, registration: decodeRegistration(key, value) });
  }
  for (const { key, value, modRevision } of reports) {
    const node = key.slice(keys.nodes.length);
    const known = nodes.get(node) ?? { node };
    nodes.set(node, { ...known, revision: modRevision, report: decodeReport(key, value) });
  }
  const inOrder = [...nodes.values()].toSorted((a, b) => (a.node < b.node ? -1 : 1));
  return { nodes: inOrder, holds: holds.map(decodeHold) };
}

/** @throws EtcdError, LogError */
export async function readNodes(etcd: Pick<Etcd, 'txn'>, keys: Keys): Promise<Reported[]> {
  return (await readStanding(etcd, keys)).nodes;
}
