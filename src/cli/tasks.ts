// Owns `tasks`: lists tasks by state, queue, request id or age.

import type { Command } from 'commander';
import { PAGE_MAX } from '../model/limits.ts';
import { TASK_STATES } from '../model/request.ts';
import { type Io, say, upperOption, wholeNumber } from './command.ts';
import { taskIdOf } from './id-arguments.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { fittedTable } from './table.ts';
import { taskColumns } from './task-columns.ts';
import { type Filter, pagesOf } from './task-pages.ts';
import { tableColumnsOf } from './words.ts';

interface Options extends ServerOptions, Filter {
  readonly limit: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .addOption(upperOption('--state <state>', 'only tasks in this state', TASK_STATES))
    .option('--queue <queue>', 'only tasks in this queue')
    .option('--request-id <id>', 'only the task that was submitted under this request id')
    .option('--newest', 'the newest tasks first, instead of the oldest')
    .option('--since <time>', 'only tasks that were submitted within this time, such as 2h')
    .option('--after <task>', 'only tasks after this one, in the order of the list')
    .option('--limit <n>', 'at most this many tasks', '100')
    .action((options: Options) => tasks(options, io));
}

async function tasks(options: Options, io: Io): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, Number.MAX_SAFE_INTEGER);
  if (options.after !== undefined) taskIdOf(options.after);
  const server = new Server(options, io);
  const shown: Readonly<Record<string, unknown>>[] = [];
  try {
    for await (const task of pagesOf(server, options, Math.min(limit, PAGE_MAX))) {
      if (options.json === true) say(io.stdout, JSON.stringify(task));
      shown.push(task);
      if (shown.length === limit) break;
    }
  } finally {
    server.close();
  }
  if (options.json === true) return;
  const { lines, isCut } = fittedTable(taskColumns(shown), shown, tableColumnsOf(io));
  for (const line of lines) say(io.stdout, line);
  if (shown.length === 0) say(io.stderr, 'no tasks');
  // The lines of the table are the tasks: a program that counts them must not count this one.
  if (isCut) say(io.stderr, 'What … stands for: leasehold task ID, --json, or a wider terminal.');
}
