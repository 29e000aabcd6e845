#!/usr/bin/env node
// Owns the command line as a whole: which commands there are, and what their ends mean as exit
// statuses. A command's own file is loaded only when it is asked for, so that starting is quick.

import { Command, CommanderError } from 'commander';
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
  transitions: {
    summary: 'show from which table the core decides',
    load: () => import('./transitions.ts'),
  },
  stats: { summary: 'show counts', load: () => import('./stats.ts') },
  kill: { summary: 'end tasks for good', load: () => import('./kill.ts') },
  redrive: { summary: 'run FAILED or DEAD tasks once more', load: () => import('./redrive.ts') },
};

const CANCEL = 'kill (CANCELLED is what a worker is told when its lease is lost)';

async function run(argv: readonly string[], io: Io): Promise<number> {
  const program = new Command('leasehold')
    .description('A durable, lease-based task coordinator.')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({ writeErr: (text) => void io.stderr.write(text) });
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary).exitOverride();
    if (name !== argv[0] && !(argv[0] === 'help' && name === argv[1])) continue;
    (await load()).define(command, io);
  }
  if (argv[0] === 'cancel') throw new CliError(EXIT.usage, CANCEL);
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
  say(stderr, `leasehold: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
  return EXIT.failed;
}

const io: Io = process;
watchOutputs(process.argv[2], io);
process.exitCode = await run(process.argv.slice(2), io).catch((error) => statusOf(error, io));
