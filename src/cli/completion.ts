// Owns `completion`: prints the script by which a shell completes the command line. The script is
// made from the commands' own definitions, so it names every flag that exists and no other.

import { type Argument, Command, type Option } from 'commander';
import { type Commands, type Define, type Io, say } from './command.ts';
import { bashScript, fishScript, type Shown, type Word, zshScript } from './completion-scripts.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

const HELP = `
  bash   source <(leasehold completion bash)   to keep it, put the line into ~/.bashrc
  zsh    source <(leasehold completion zsh)    to keep it, put it into ~/.zshrc after compinit
  fish   leasehold completion fish > ~/.config/fish/completions/leasehold.fish`;

/** @param commands the list that the scripts are made from; the list itself names this command. */
export function completionOf(commands: Commands): { define: Define } {
  return {
    define: (command, io) => {
      const shells = command.createArgument('<shell>', 'whose script');
      command
        .addArgument(shells.choices(Object.keys(SCRIPTS)))
        .addHelpText('after', HELP)
        .action(async (shell: Shell) => {
          say(io.stdout, SCRIPTS[shell](await shownCommands(commands, io)));
        });
    },
  };
}

/** Every command as its own file defines it. */
export async function shownCommands(commands: Commands, io: Io): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = new Command(name);
    (await load()).define(command, io);
    const words = command.registeredArguments.flatMap(
      ({ argChoices }: Argument) => argChoices ?? [],
    );
    // What stands below a command, as `cluster init`, has its flags in common here.
    const below = command.commands.flatMap((one) => one.options);
    const flags = [...command.options, ...below].flatMap(flagOf);
    const names = command.commands.map((one) => one.name());
    shown.push({ name, summary, flags: onePerName(flags), words: [...words, ...names] });
  }
  return shown;
}

const onePerName = (flags: readonly Word[]): Word[] => [
  ...new Map(flags.map((flag) => [flag.long, flag])).values(),
];

function flagOf({ long, description, argChoices, flags, hidden }: Option): Word[] {
  if (long === undefined || long === null || hidden) return [];
  const place = /[<[]([a-z=]+)[>\]]/.exec(flags)?.[1];
  const value = argChoices ?? (place === undefined ? undefined : kindOf(place));
  return [{ long, description, value }];
}

/** The name that stands for a value in the help says what it is. */
const kindOf = (place: string): 'file' | 'directory' | 'text' => {
  if (place === 'file') return 'file';
  return place === 'dir' ? 'directory' : 'text';
};
