// Owns `cluster`: the commands that make a cluster and operate it. They speak with etcd themselves,
// so they work while no node runs.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ClusterError } from '../cluster/cluster-error.ts';
import { etcdOptions } from '../cluster/etcd-options.ts';
import { EtcdError } from '../log/etcd/etcd.ts';
import { keysOf } from '../log/etcd/keys.ts';
import type { ClusterKnobValues } from '../settings/cluster-knobs.ts';
import { type EtcdSettings, etcdSettings } from '../settings/cluster-settings.ts';
import { helpOf } from '../settings/knob.ts';
import { flagOf, KNOBS, type KnobName } from '../settings/knob-table.ts';
import { KnobError, readKnobs } from '../settings/settings.ts';
import { OPERATIONS, type Operated } from './cluster-operations.ts';
import { CliError, EXIT, type Io, usage } from './command.ts';
import { operatingError } from './offline.ts';

/** How a command reaches etcd. */
const WAYS: readonly (keyof ClusterKnobValues)[] = [
  'etcd',
  'clusterName',
  'etcdCaFile',
  'etcdCertFile',
  'etcdKeyFile',
  'etcdUserFile',
  'etcdCallMs',
];

type Options = Partial<Record<KnobName | 'config', string | true>> & { readonly json?: boolean };

export function define(command: Command, io: Io): void {
  for (const { name, summary, more, knobs = [], run } of OPERATIONS) {
    const sub = command.command(name).description(summary);
    for (const knob of [...WAYS, ...knobs]) {
      sub.option(`${flagOf(knob)} <value>`, helpOf(KNOBS[knob]));
    }
    sub.option('--config <file>', 'JSON file with knobs, as serve takes it');
    sub.option('--json', 'print one JSON object');
    more?.(sub);
    sub.action(async (...given: unknown[]) => {
      const options = sub.opts<Options & Record<string, string>>();
      await operate(options, io, (operated) => run(operated, options, String(given[0])));
    });
  }
}

async function operate(
  { config, json = false, ...given }: Options,
  io: Io,
  act: (operated: Operated) => Promise<void>,
): Promise<void> {
  const flags = Object.fromEntries(Object.entries(given).filter(([name]) => name in KNOBS));
  const configFile = config === undefined ? io.env['LEASEHOLD_CONFIG'] : String(config);
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  const { values, settings } = settingsOf(() => {
    const { values } = readKnobs({ flags, env: io.env, configFile, readFile });
    return { values, settings: etcdSettings(values, readFile) };
  });
  const { openEtcd } = await import('../log/etcd/grpc-etcd.ts');
  const etcd = openEtcd(etcdOptions(settings));
  try {
    await act({ etcd, keys: keysOf(settings.cluster), settings, values, io, json });
  } catch (error) {
    throw wordsFor(error, settings);
  } finally {
    etcd.close();
  }
}

function settingsOf<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof KnobError ? usage(`leasehold: ${error.message}`) : error;
  }
}

function wordsFor(error: unknown, { urls }: EtcdSettings): unknown {
  if (error instanceof ClusterError) {
    return new CliError(EXIT.failed, `leasehold: ${error.code}: ${error.message}`);
  }
  if (error instanceof EtcdError) {
    const where = `etcd at ${urls.join(', ')}`;
    return new CliError(EXIT.noServer, `leasehold: ${where}: ${error.message}`);
  }
  const told = operatingError(error);
  return told === undefined ? error : new CliError(EXIT.failed, `leasehold: ${told}`);
}
