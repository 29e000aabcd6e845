// Owns `redrive`: runs FAILED or DEAD tasks once more, each as a new task.

import type { Command } from 'commander';
import type { Io } from './command.ts';
import { type ManyOptions, type Treatment, treat, withMany } from './many.ts';
import { recordText } from './words.ts';

const REDRIVE: Treatment = {
  op: 'redrive',
  states: ['FAILED', 'DEAD'],
  fields: () => ({}),
  // Redriven again it would only answer the task that was made of it then.
  matches: (task) => task['redriven_as'] === undefined,
  text: (answer) => {
    const again = answer['deduplicated'] === true ? ' (redriven before)' : '';
    const { task_id, origin_task_id, state } = answer;
    return `${task_id} ${state} from ${origin_task_id}${again}, ${recordText(answer)}`;
  },
};

export function define(command: Command, io: Io): void {
  withMany(command, REDRIVE.states).action((ids: string[], options: ManyOptions) =>
    treat(ids, REDRIVE, options, io),
  );
}
