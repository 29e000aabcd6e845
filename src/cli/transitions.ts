// Owns `transitions`: prints the table from which the core decides. It asks no server.

import type { Command } from 'commander';
import { TRANSITIONS } from '../model/transitions.ts';
import { mermaid, statesPage, transitionsText } from '../play/transitions-text.ts';
import { type Io, say } from './command.ts';

interface Options {
  readonly json?: true;
  readonly mermaid?: true;
  readonly page?: true;
}

export function define(command: Command, io: Io): void {
  command
    .option('--json', 'print the table as JSON')
    .option('--mermaid', 'print a diagram in the notation of Mermaid')
    .option('--page', 'print the page docs/STATES.md')
    .action((options: Options) => say(io.stdout, textOf(options)));
}

function textOf(options: Options): string {
  if (options.json === true) return JSON.stringify(TRANSITIONS);
  if (options.mermaid === true) return mermaid();
  return options.page === true ? statesPage().trimEnd() : transitionsText();
}
