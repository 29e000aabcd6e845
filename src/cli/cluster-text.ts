// Owns how `cluster status` reads.

import type { ClusterStatus } from '../cluster/cluster-status.ts';
import { plural } from '../explain/names.ts';
import { MIRRORS_MIN } from '../log/etcd/trim.ts';

export const groupsText = (groups: number): string =>
  plural(groups, 'group of records', 'groups of records');

export async function statusText(status: ClusterStatus): Promise<string> {
  const { cluster, leader, url, epoch, last_sequence, halted, tail, alarms, members } = status;
  const leads = leader === undefined ? 'no node leads' : `${leader} leads, at ${url}`;
  const size = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const lines = [
    `cluster ${cluster}: ${leads}; epoch ${epoch}, last record ${last_sequence}`,
    ...(halted === undefined ? [] : [`HALTED: ${halted}`]),
    ...(alarms.length === 0 ? [] : [`etcd has raised the alarm ${alarms.join(', ')}`]),
    '',
    await table(
      ['node', 'runs', 'copied', 'behind', 'version', 'url'],
      status.nodes.map(({ node, runs, mirrored, lag, version, url: at }) => [
        node,
        runs ? 'yes' : 'no',
        shown(mirrored),
        shown(lag),
        shown(version),
        at,
      ]),
    ),
    '',
    `in etcd: ${groupsText(tail.groups)}, ${size(tail.bytes)}; ` +
      `trimmed up to record ${tail.trimmed}`,
    ...(tail.trimmed === 0 ? [] : [heldText(tail)]),
    ...status.holds.map(
      ({ by, last }) =>
        `kept for a copy of the log that ${by} sends or has sent: the records after ${last}`,
    ),
    await table(
      ['etcd member', 'leads', 'version', 'database', 'in use', 'quota'],
      members.map((one) => [
        one.member,
        one.leads ? 'yes' : 'no',
        one.version,
        size(one.db_bytes),
        size(one.db_bytes_in_use),
        one.quota_bytes === undefined ? '-' : size(one.quota_bytes),
      ]),
    ),
  ];
  return lines.join('\n');
}

function heldText({ trimmed, holders }: ClusterStatus['tail']): string {
  const machines = holders === 1 ? '1 machine' : `${holders} machines`;
  const text = `the records up to ${trimmed} lie on ${machines} with a running node`;
  if (holders >= MIRRORS_MIN) return text;
  return `TOO FEW COPIES: ${text}, and not in etcd; start the other nodes, or make a new one`;
}

const shown = (value: number | string | undefined): string =>
  value === undefined ? '-' : String(value);

async function table(head: readonly string[], rows: readonly (readonly string[])[]) {
  const { default: Table } = await import('cli-table3');
  const out = new Table({ style: { head: [], border: [], compact: true }, head: [...head] });
  out.push(...rows.map((row) => [...row]));
  return out.toString();
}
