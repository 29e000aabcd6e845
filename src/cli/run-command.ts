// Owns the run of one command from its words to its exit status: finds the command, runs it, and
// puts what went wrong into words. The file of a command is loaded only when that command runs, so
// that the start is quick.

import { Command, CommanderError } from 'commander';
import { errnoText } from '../model/errno-text.ts';
import { nearestName } from '../model/nearest.ts';
import { unknownVariables } from '../settings/variables.ts';
import { CliError, EXIT, type Io, say } from './command.ts';
import { COMMANDS } from './commands.ts';
import { optionHint } from './option-hints.ts';
import { assertNode, packageVersion } from './version.ts';

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
  assertNode(process.versions.node);
  const argv = first === undefined ? [] : [versionOf(first), ...others];
  assertCommand(argv);
  tellUnknownVariables(argv, io);
  const program = new Command('leasehold')
    .description('A durable, lease-based task coordinator.')
    .version(packageVersion(), '-v, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    });
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(summary).exitOverride();
    if (name !== argv[0] && !(argv[0] === 'help' && name === argv[1])) continue;
    (await load()).define(command, io);
  }
  await program.parseAsync(argv, { from: 'user' });
  return EXIT.done;
}

function statusOf(error: unknown, argv: readonly string[], { stderr }: Io): number {
  if (error instanceof CliError) {
    if (error.message !== '') say(stderr, error.message);
    return error.status;
  }
  // Commander has said what is wrong already; help and version are no errors.
  if (error instanceof CommanderError) {
    const isUnknown = error.code === 'commander.unknownOption';
    const hint = isUnknown ? optionHint(argv) : undefined;
    if (hint !== undefined) say(stderr, hint);
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
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

/** @returns the exit status; whatever went wrong has been told on the standard error. */
export function runCommand(argv: readonly string[], io: Io): Promise<number> {
  return run(argv, io).catch((error) => statusOf(error, argv, io));
}
