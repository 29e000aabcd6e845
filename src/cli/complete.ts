// Owns `complete`: reports a lease's success by hand.

import type { Command } from 'commander';
import { type Io, usage } from './command.ts';
import { bytesField, readInput } from './input.ts';
import { report } from './report.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { recordText } from './words.ts';

interface Options extends ServerOptions {
  readonly result?: string;
  readonly file?: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<lease>', 'the id of the lease, such as L3')
    .option('--result <text>', 'the result, as text')
    .option('--file <file>', 'the file that holds the result; - is the standard input')
    .action(async (lease: string, options: Options) => {
      const result = await resultOf(options, io);
      await report('complete', lease, result, options, io, (answer, taskId) => {
        const { outcome, task_state } = answer;
        return `${outcome} ${taskId} ${task_state}, ${recordText(answer)}`;
      });
    });
}

async function resultOf({ result, file }: Options, io: Io): Promise<Record<string, string>> {
  if (result !== undefined && file !== undefined) throw usage('give --result or --file, not both');
  if (result !== undefined) return { result };
  return file === undefined ? {} : bytesField('result', await readInput(file, io, 'the result'));
}
