// Owns `kill`: ends tasks for good, as an administrator does.

import type { Command } from 'commander';
import type { Io } from './command.ts';
import { type ManyOptions, type Treatment, treat, withMany } from './many.ts';
import { recordText } from './words.ts';

const KILL: Treatment = {
  op: 'kill',
  states: ['WAITING', 'LEASED'],
  fields: ({ note }) => (note === undefined ? {} : { reason: note }),
  matches: () => true,
  text: (answer, taskId) =>
    `${answer['outcome']} ${taskId} ${answer['task_state']}, ${recordText(answer)}`,
};

export function define(command: Command, io: Io): void {
  withMany(command, KILL.states)
    .option('--note <text>', 'why the tasks are killed; written to the log')
    .action((ids: string[], options: ManyOptions) => treat(ids, KILL, options, io));
}
