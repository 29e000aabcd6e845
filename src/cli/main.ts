#!/usr/bin/env node
// Owns the command line as a whole: which commands there are, and what their ends mean as exit
// statuses. A command's own file is loaded only when it is asked for, so that starting is quick.

import { Command, CommanderError } from 'commander';
import { errnoText } from '../model/errno-text.ts';
import { nearestName } from '../model/nearest.ts';
import { unknownVariables } from '../settings/variables.ts';
import { CliError, type Define, EXIT, type Io, say } from './command.ts';
import { watchOutputs } from './outputs.ts';
import { packageVersion } from './version.ts';

interface Entry {
  readonly summary: string;
  load(): Promise<{ readonly define: Define }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { summary: 'run a coordinator', load: () => import('./serve.ts') },
  submit: { summary: 'submit a task, or one task a line', load: () => import('./submit.ts') },
  lease: { summary: "a worker's part by hand: ask for tasks", load: () => import('./lease.ts') },
  heartbeat: { summary: 'keep a lease', load: () => import('./heartbeat.ts') },
  complete: { summary: "report a lease's success", load: () => import('./complete.ts') },
  fail: { summary: "report a lease's failure", load: () => import('./fail.ts') },
  work: { summary: 'run a command for each task', load: () => import('./work.ts') },
  task: { summary: 'show one task', load: () => import('./task.ts') },
  tasks: { summary: 'list tasks', load: () => import('./tasks.ts') },
  explain: { summary: 'tell why a task is where it is', load: () => import('./explain.ts') },
  log: { summary: 'show the newest records', load: () => import('./log.ts') },
  verify: { summary: 'check every record of a data directory', load: () => import('./verify.ts') },
  state: { summary: 'show the state after any record', load: () => import('./state.ts') },
  backup: { summary: 'copy a data directory', load: () => import('./backup.ts') },
  lab: { summary: 'a coordinator to play with, its log printed', load: () => import('./lab.ts') },
  story: { summary: 'what can happen to a task, played', load: () => import('./story.ts') },
  rehearse: {
    summary: 'try your worker against what can go wrong',
    load: () => import('./rehearse.ts'),
  },
  transitions: {
    summary: 'show from which table the core decides',
    load: () => import('./transitions.ts'),
  },
  stats: { summary: 'show counts', load: () => import('./stats.ts') },
  kill: { summary: 'end tasks for good', load: () => import('./kill.ts') },
  redrive: { summary: 'run FAILED or DEAD tasks once more', load: () => import('./redrive.ts') },
  version: { summary: 'show the version', load: () => import('./version.ts') },
};

const CANCEL = 'kill (CANCELLED is what a worker is told when its lease is lost)';

/** @throws CliError when what stands where a command belongs is none. */
function assertCommand(argv: readonly string[]): void {
  const asked = argv[0] === 'help' ? argv[1] : argv[0];
  if (asked === 'cancel') throw new CliError(EXIT.usage, CANCEL);
  if (asked === undefined || asked.startsWith('-') || asked === 'help') return;
  if (Object.hasOwn(COMMANDS, asked)) return;
  const meant = nearestName(asked, Object.keys(COMMANDS));
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const where = '`leasehold help` lists the commands';
  throw new CliError(
    EXIT.usage,
    `error: unknown command ${JSON.stringify(asked)}${hint} (${where})`,
  );
}

/** What somebody has set in vain would otherwise be missed without a word. */
function tellUnknownVariables([asked]: readonly string[], { env, stderr }: Io): void {
  if (asked === undefined || asked.startsWith('-') || asked === 'help') return;
  for (const sentence of unknownVariables(env)) say(stderr, `leasehold: ${sentence}`);
}

/** `-v` is what most programs have; `-V` is what this one had. */
const versionOf = (argument: string): string => (/^-[vV]$/.test(argument) ? 'version' : argument);

async function run([first, ...others]: readonly string[], io: Io): Promise<number> {
  const argv = first === undefined ? [] : [versionOf(first), ...others];
  assertCommand(argv);
  tellUnknownVariables(argv, io);
  const program = new Command('leasehold')
    .description('A durable, lease-based task coordinator.')
    .version(packageVersion(), '-v, --version')
    .exitOverride()
    .configureOutput({ writeErr: (text) => void io.stderr.write(text) });
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary).exitOverride();
    if (name !== argv[0] && !(argv[0] === 'help' && name === argv[1])) continue;
    (await load()).define(command, io);
  }
  await program.parseAsync(argv, { from: 'user' });
  return EXIT.done;
}

function statusOf(error: unknown, { stderr }: Io): number {
  if (error instanceof CliError) {
    if (error.message !== '') say(stderr, error.message);
    return error.status;
  }
  // Commander has said what is wrong already; help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  say(stderr, `leasehold: ${wordsOf(error)}`);
  return EXIT.failed;
}

/** An error of the system is told as a sentence; any other is a bug, and its place matters. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error.stack ?? error.message;
  return `${path === undefined ? syscall : path}: ${errnoText(error)}`;
}

const io: Io = process;
watchOutputs(process.argv[2], io);
process.exitCode = await run(process.argv.slice(2), io).catch((error) => statusOf(error, io));
