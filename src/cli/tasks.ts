// Owns `tasks`: lists tasks by state, queue or request id.

import { type Command, Option } from 'commander';
import { PAGE_MAX } from '../model/limits.ts';
import { TASK_STATES } from '../model/request.ts';
import { lineText } from '../model/safe-text.ts';
import { type Io, say, wholeNumber } from './command.ts';
import { taskIdOf } from './id-arguments.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { type Filter, pagesOf } from './task-pages.ts';
import { dateText, shortText } from './words.ts';

interface Options extends ServerOptions, Filter {
  readonly limit: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .addOption(new Option('--state <state>', 'only tasks in this state').choices([...TASK_STATES]))
    .option('--queue <queue>', 'only tasks in this queue')
    .option('--request-id <id>', 'only the task that was submitted under this request id')
    .option('--after <task>', 'only tasks after this one')
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
  if (options.json !== true) say(io.stdout, await table(shown));
}

async function table(rows: readonly Readonly<Record<string, unknown>>[]): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const head = ['task', 'state', 'queue', 'attempt', 'created (UTC)', 'lease', 'last failure'];
  const out = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const row of rows) {
    const lease = row['lease'] as Readonly<Record<string, unknown>> | undefined;
    out.push([
      String(row['task_id']),
      String(row['state']),
      String(row['queue']),
      String(row['attempt']),
      dateText(row['created_at']),
      lease === undefined ? '' : `${lease['lease_id']} ${lineText(lease['worker_id'])}`,
      shortText(row['last_failure_reason'] ?? '', 40),
    ]);
  }
  return out.toString();
}
