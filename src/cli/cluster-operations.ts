// Owns what each of the commands of `cluster` does and prints.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  type AgreedKnobs,
  type Agreement,
  agreedOf,
  encodeAgreement,
} from '../cluster/agreement.ts';
import { clusterStatus } from '../cluster/cluster-status.ts';
import { initCluster } from '../cluster/init.ts';
import { readAgreement } from '../cluster/joining.ts';
import { askToStepDown, forgetNode, freeRoom, readLeader } from '../cluster/step-down.ts';
import type { Etcd } from '../log/etcd/etcd.ts';
import type { Keys } from '../log/etcd/keys.ts';
import { DECIDING } from '../model/knobs.ts';
import { FORMAT_VERSION } from '../model/records.ts';
import type { EtcdSettings } from '../settings/cluster-settings.ts';
import { type KnobName, type KnobValues, keyOf } from '../settings/knob-table.ts';
import { converted } from './cluster-from.ts';
import { groupsText, statusText } from './cluster-text.ts';
import { CliError, EXIT, type Io, say } from './command.ts';

export interface Operated {
  readonly etcd: Etcd;
  readonly keys: Keys;
  readonly settings: EtcdSettings;
  readonly values: KnobValues;
  readonly io: Io;
  readonly json: boolean;
}

interface Operation {
  readonly name: string;
  readonly summary: string;
  /** Knobs that it takes besides those by which etcd is reached. */
  readonly knobs?: readonly KnobName[];
  more?(command: Command): void;
  /** @param name the argument, of a command that has one */
  run(
    operated: Operated,
    options: Readonly<Record<string, string | boolean | undefined>>,
    name: string,
  ): Promise<void>;
}

const TAKES_OVER_MS = 10_000;
const LOOK_MS = 50;

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'init',
    summary: 'make a cluster in etcd, with an empty log or that of a server',
    knobs: DECIDING,
    more: (command) =>
      void command.option('--from <dir>', 'the data directory of a stopped server to go on with'),
    run: init,
  },
  { name: 'status', summary: 'show who leads, the nodes, and the state of etcd', run: status },
  { name: 'step-down', summary: 'let another node lead', run: stepDown },
  {
    name: 'forget-node',
    summary: 'remove a node that will not come back',
    more: (command) => void command.argument('<name>', 'the name of the node'),
    run: forget,
  },
  {
    name: 'agree',
    summary: 'set the knobs that all nodes share; what is not given gets its default',
    knobs: DECIDING,
    run: agree,
  },
  { name: 'free', summary: 'make room when etcd is full', run: free },
];

async function init({ etcd, keys, settings, values, io, json }: Operated, { from }: Options) {
  const log = randomUUID();
  const fresh: Agreement = { log, format: FORMAT_VERSION, knobs: agreedOf(values) };
  let records = 0;
  if (typeof from !== 'string') await initCluster(etcd, keys, fresh);
  else {
    records = await converted(from, settings.cluster, fresh, (agreement, beginning) =>
      initCluster(etcd, keys, agreement, beginning),
    );
  }
  const { cluster } = settings;
  if (json) return say(io.stdout, JSON.stringify({ cluster, last_sequence: records }));
  const next =
    typeof from === 'string'
      ? `Start a node on ${from}. Every other node needs a copy: leasehold backup --node ` +
        `--data-dir ${from} NEWDIR`
      : 'Start nodes with --etcd, --cluster-name, --node-name and --advertise-url.';
  say(io.stdout, `made the cluster ${cluster}; its log ends with record ${records}. ${next}`);
}

async function status({ etcd, keys, settings, io, json }: Operated): Promise<void> {
  const found = await clusterStatus(etcd, keys, settings.cluster);
  say(io.stdout, json ? JSON.stringify(found) : await statusText(found));
}

async function stepDown({ etcd, keys, io, json }: Operated): Promise<void> {
  const before = await askToStepDown(etcd, keys);
  for (const until = performance.now() + TAKES_OVER_MS; performance.now() < until; ) {
    const leader = await readLeader(etcd, keys);
    if (leader !== undefined && leader.beat.run !== before.run && leader.beat.epoch > 0) {
      const { node, url, epoch } = leader.beat;
      const text = json
        ? JSON.stringify({ leader: node, url, epoch, before: before.node })
        : `${node} leads now, at ${url}, since record ${epoch}; ${before.node} led before`;
      return say(io.stdout, text);
    }
    await pause(LOOK_MS);
  }
  throw new CliError(EXIT.failed, `no other node has taken over within ${TAKES_OVER_MS} ms`);
}

async function forget({ etcd, keys, io }: Operated, _: Options, name: string): Promise<void> {
  await forgetNode(etcd, keys, name);
  say(io.stdout, `${name} does not belong to the cluster any more`);
}

async function agree({ etcd, keys, settings, values, io, json }: Operated): Promise<void> {
  const { cluster } = settings;
  const before = await readAgreement(etcd, keys, cluster);
  const knobs = agreedOf(values);
  const value = encodeAgreement({ ...before, knobs });
  const unchanged = { key: keys.meta, value: encodeAgreement(before) };
  const { passed } = await etcd.txn([unchanged], [{ put: keys.meta, value }]);
  if (!passed) throw new CliError(EXIT.failed, 'somebody else changed them just now; look again');
  say(io.stdout, json ? JSON.stringify({ cluster, knobs }) : changesText(before.knobs, knobs));
}

/** Each knob is named that changed: one that was not given may have changed to its default. */
function changesText(before: AgreedKnobs, now: AgreedKnobs): string {
  const changed = DECIDING.filter((name) => before[name] !== now[name]);
  if (changed.length === 0) return 'nothing changes: the cluster has these settings already';
  const lines = changed.map((name) => `${keyOf(name)}: ${before[name]} before, ${now[name]} now`);
  const next = 'the nodes of the cluster must be started with these settings from now on';
  return [...lines, next].join('\n');
}

async function free({ etcd, keys, io, json }: Operated): Promise<void> {
  const groups = await freeRoom(etcd, keys);
  const alarms = await etcd.alarms();
  if (json) return say(io.stdout, JSON.stringify({ groups, alarms }));
  const next = alarms.includes('NOSPACE')
    ? '; now run `etcdctl defrag` for each member and then `etcdctl alarm disarm`'
    : '; etcd has raised no alarm';
  say(
    io.stdout,
    `${groupsText(groups)} ${groups === 1 ? 'was' : 'were'} deleted, and etcd was compacted${next}`,
  );
}

type Options = Readonly<Record<string, string | boolean | undefined>>;
