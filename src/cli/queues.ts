// Owns `queues`: what waits in each queue, and who asks for it.

import type { Command } from 'commander';
import { queuesFields } from '../model/list-requests.ts';
import type { Io } from './command.ts';
import { withList } from './list-command.ts';
import { queueColumns } from './overview-table.ts';

const HELP = `
  waiting     tasks in the state WAITING, delayed ones included
  delayed     waiting tasks that cannot be leased yet, because of a delay or a backoff
  oldest      how long the oldest task that can be leased has waited
  in/s out/s  tasks that came, and tasks that ended, each second, over the last minute
  asked, by   when a worker last asked for a lease from the queue, and which worker;
              "now": a lease request waits for a task of this queue
  --sort asked begins with the queues whose tasks nobody asks for.`;

export function define(command: Command, io: Io): void {
  withList(
    command,
    {
      op: 'queues',
      sorts: queuesFields.sort.words ?? [],
      sortHelp: 'by name (default), or the queues with the largest value first',
      columns: queueColumns,
      none: 'no queue holds a task',
      soft: 'Rates and who asked are known only',
    },
    io,
  ).addHelpText('after', HELP);
}
