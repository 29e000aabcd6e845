// Owns `rehearse`: tries a user's own worker against the faults of a distributed system, and
// reports the result.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { EXECUTABLE } from '../play/demo/processes.ts';
import { CleanUp } from '../rehearse/clean-up.ts';
import { rehearse } from '../rehearse/rehearse.ts';
import {
  isFailure,
  progressLine,
  reportJson,
  reportJunit,
  reportText,
} from '../rehearse/report.ts';
import { SCENARIOS, UNDISTURBED } from '../rehearse/scenarios.ts';
import {
  CliError,
  collect,
  durationMs,
  EXIT,
  type Io,
  say,
  usage,
  wholeNumber,
} from './command.ts';
import { openBar } from './progress-bar.ts';
import { checkWritable, payloadsOf } from './rehearse-files.ts';

interface Options {
  readonly worker?: string;
  readonly exec?: string;
  readonly payloads?: string;
  readonly queue: string;
  readonly effectsUrl?: true;
  readonly refuseOldTokens?: true;
  readonly effectsCmd?: string;
  readonly scenario?: string[];
  readonly allow?: string[];
  readonly seed: string;
  readonly leaseMs: string;
  readonly json?: true;
  readonly junit?: string;
  readonly list?: true;
}

const NAMES = new Set([UNDISTURBED, ...SCENARIOS].map(({ name }) => name));
const TWO_TO_32 = 2 ** 32;

export function define(command: Command, io: Io): void {
  command
    .option(
      '--worker <command>',
      'the command that starts your worker, which takes the server from LEASEHOLD_URL',
    )
    .option(
      '--exec <command>',
      'instead of --worker: a command that `leasehold work` runs for each task',
    )
    .option(
      '--payloads <file>',
      'file with one payload in each line, like those that your worker gets',
    )
    .option('--queue <queue>', 'the queue that your worker asks for', 'default')
    .option(
      '--effects-url',
      'run a server that counts effects, at LEASEHOLD_EFFECTS_URL (docs/REHEARSE.md)',
    )
    .option(
      '--refuse-old-tokens',
      'with --effects-url: refuse an effect whose fencing token is older than one seen before',
    )
    .option(
      '--effects-cmd <command>',
      'a command that prints how many effects the task in LEASEHOLD_TASK_ID has had',
    )
    .option('--scenario <name>', 'play only this scenario; may be given several times', collect)
    .option(
      '--allow <name>',
      'a scenario whose verdict you accept; may be given several times',
      collect,
    )
    .option(
      '--seed <number>',
      'decides which payloads and faults come together; the same seed, the same choice',
      '1',
    )
    .option('--lease-ms <ms>', 'how long a lease lasts in the rehearsal', '2000')
    .option('--json', 'print the verdicts as JSON')
    .option('--junit <file>', 'write the verdicts as a JUnit file too')
    .option('--list', 'list the scenarios')
    .action((options: Options) => run(options, io));
}

async function run(options: Options, io: Io): Promise<void> {
  if (options.list === true) return list(io);
  const seed = wholeNumber('--seed', options.seed, 0, TWO_TO_32);
  const leaseMs = durationMs('--lease-ms', options.leaseMs, 500, 600_000);
  for (const name of [...(options.scenario ?? []), ...(options.allow ?? [])]) {
    if (!NAMES.has(name)) throw usage(`there is no scenario ${name}; --list shows them`);
  }
  if (options.refuseOldTokens === true && options.effectsUrl !== true) {
    throw usage('--refuse-old-tokens is about the ledger: give --effects-url too');
  }
  const command = commandOf(options);
  const payloads = payloadsOf(options.payloads);
  if (options.junit !== undefined) checkWritable('--junit', options.junit);
  const effectsOf =
    options.effectsCmd === undefined ? undefined : await counterOf(options.effectsCmd);
  const allowed = new Set(options.allow);
  const names = options.scenario ?? [];
  const total = 1 + (names.length === 0 ? SCENARIOS.length : names.length);
  const bar = await openBar(io, { total, things: 'scenarios' });
  const cleanUp = new CleanUp();
  const stop = (): void => void process.exit(EXIT.failed);
  process.once('SIGINT', stop).once('SIGTERM', stop).once('SIGHUP', stop);
  try {
    const results = await rehearse({
      command,
      queue: options.queue,
      payloads,
      leaseMs,
      ledger:
        options.effectsUrl === true
          ? { refusesOldTokens: options.refuseOldTokens === true }
          : undefined,
      names,
      seed,
      cleanUp,
      ...(effectsOf === undefined ? {} : { effectsOf }),
      onResult: (result, done) => {
        if (io.stderr.isTTY) bar.update(done);
        else say(io.stderr, progressLine(result, done, total));
      },
    })
      .catch(({ message }: Error) => {
        throw new CliError(EXIT.failed, message);
      })
      .finally(() => bar.stop());
    if (options.junit !== undefined) writeFileSync(options.junit, reportJunit(results, allowed));
    say(
      io.stdout,
      options.json === true ? reportJson(results, seed) : reportText(results, allowed),
    );
    const failed = results.filter(
      (result) => isFailure(result) && !allowed.has(result.scenario.name),
    );
    if (failed.length > 0) {
      throw new CliError(EXIT.failed, `${failed.length} of ${results.length} scenarios failed`);
    }
  } finally {
    await cleanUp.close();
  }
}

function list({ stdout }: Io): void {
  const all = [UNDISTURBED, ...SCENARIOS];
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, title } of all) say(stdout, `${name.padEnd(width)}  ${title}`);
}

function commandOf({ worker, exec, queue }: Options): string {
  if ((worker === undefined) === (exec === undefined)) {
    throw usage('give either --worker COMMAND or --exec COMMAND');
  }
  if (worker !== undefined) return worker;
  const quoted = [process.execPath, EXECUTABLE, 'work', '--queue', queue, '--exec', exec ?? ''];
  return `exec ${quoted.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}`;
}

const exec = promisify(execFile);

type Counting = (taskId: string) => Promise<number>;

/** @throws CliError with the usage status when the command cannot count */
async function counterOf(command: string): Promise<Counting> {
  const count: Counting = async (taskId) => {
    const env = { ...process.env, LEASEHOLD_TASK_ID: taskId };
    const { stdout } = await exec('/bin/sh', ['-c', command], { env });
    const effects = Number(stdout.trim());
    if (Number.isSafeInteger(effects) && effects >= 0) return effects;
    throw new Error(`it printed ${JSON.stringify(stdout)}, which is no number`);
  };
  const named: Counting = (taskId) =>
    count(taskId).catch(({ code, message, stderr }) => {
      const why = typeof code === 'number' ? `it ended with status ${code}: ${stderr}` : message;
      throw usage(`--effects-cmd for task ${taskId}: ${String(why).trim()}`);
    });
  // The first task of each scenario has this id. What has failed for it would fail later too, and
  // would look like a fault of the worker.
  await named('T2');
  return named;
}
