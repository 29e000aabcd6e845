// Owns `serve`: reads the knobs, starts the system, and turns signals into its stop.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { logSettings } from '../../actors/supervisor/logger.ts';
import { startSystem } from '../../actors/supervisor/system.ts';
import { onStopSignals } from '../client/stop-signals.ts';
import { isLocked } from '../log/lock.ts';
import { helpOf } from '../settings/knob.ts';
import { flagOf, KNOB_NAMES, KNOBS, type KnobName } from '../settings/knob-table.ts';
import { KnobError, readSettings, type Settings } from '../settings/settings.ts';
import { type Io, say, usage } from './command.ts';
import { ignoreDebuggerSignal } from './debugger-signal.ts';
import { notifyReady } from './notify-ready.ts';
import { packageVersion } from './version.ts';

export function define(command: Command, io: Io): void {
  command.option('--config <file>', 'JSON file with knobs, such as {"lease_duration_ms": 30000}');
  for (const name of KNOB_NAMES) {
    const value = KNOBS[name].kind === 'switch' ? '' : ' <value>';
    command.option(`${flagOf(name)}${value}`, helpOf(KNOBS[name]));
  }
  command.addHelpText(
    'after',
    '\nEach of these settings (knobs) is also an environment variable, as\n' +
      'LEASEHOLD_LEASE_DURATION_MS, and a key of the file that --config names. A flag\n' +
      'overrides the variable, and the variable overrides the file. The token is given by\n' +
      '--token-file or LEASEHOLD_TOKEN. A duration is a number of milliseconds, or has a\n' +
      'unit: 500ms, 30s, 10m, 2h, 7d. In the file, a duration with a unit is a string: "30s".\n\n' +
      'INT, TERM, HUP and QUIT stop the server; a second signal ends it at once. Neither loses\n' +
      'anything that was acknowledged. USR1 is ignored.\n\n' +
      'Exit status: 0 stopped by a signal; 1 failed; 2 a knob has a value that is not\n' +
      'allowed; 6 somebody must look before the next start, which would end the same way\n' +
      '(LOG_CORRUPT, LOG_LOCKED, LOG_FORMAT_NEWER, LOG_FENCED; for nodes of a cluster,\n' +
      'docs/REPLICATION.md has further codes).',
  );
  command.action(async (options: Options) => {
    const { status, stuck } = await serve(settingsOf(options, io), io);
    // A write that hangs in the device holds its thread, and an orderly exit waits for that
    // thread.
    if (stuck) process.kill(process.pid, 'SIGKILL');
    // Threads that were given up, not closed, would keep the process alive.
    process.exit(status);
  });
}

type Options = Partial<Record<KnobName | 'config', string | true>>;

function settingsOf({ config, ...flags }: Options, { env }: Io): Settings {
  const configFile = config === undefined ? env['LEASEHOLD_CONFIG'] : String(config);
  try {
    const readFile = (path: string): string => readFileSync(path, 'utf8');
    return readSettings({ flags, env, configFile, readFile });
  } catch (error) {
    if (error instanceof KnobError) throw usage(`leasehold: ${error.message}`);
    throw error;
  }
}

interface Over {
  readonly status: number;
  readonly stuck: boolean;
}

async function serve(settings: Settings, io: Io): Promise<Over> {
  const system = startSystem({
    settings,
    version: packageVersion(),
    logging: logSettings(settings.values.logLevel),
    complain: (message) => say(io.stderr, `leasehold: ${message}`),
    isLocked,
    ready: () => notifyReady(io),
  });
  ignoreDebuggerSignal(() => system.ignored('SIGUSR1'));
  const endSignals = onStopSignals((wish, signal) => {
    if (wish === 'first') return system.stop(signal);
    // A second signal ends the process at once, without exit hooks, because these could wait for
    // threads that write. Nothing is lost: every acknowledged record is on the disk already.
    endSignals();
    process.kill(process.pid, signal);
  });
  return { status: await system.over, stuck: system.stuck };
}
