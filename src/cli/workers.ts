// Owns `workers`: who sent requests lately, and what each holds.

import type { Command } from 'commander';
import { workersFields } from '../model/list-requests.ts';
import type { Io } from './command.ts';
import { withList } from './list-command.ts';
import { workerColumns } from './overview-table.ts';

const HELP = `
  leases         how many leases the worker holds now
  capacity       how many leases the worker says that it can hold; -: it has not said
  last request   how long ago the worker sent one; a worker that sends none for 15 minutes
                 and holds no lease is forgotten
  lease ends     when the first of its leases runs out, unless it sends a heartbeat
  Two processes may have the same name: a worker names itself.`;

export function define(command: Command, io: Io): void {
  withList(
    command,
    {
      op: 'workers',
      sorts: workersFields.sort.words ?? [],
      sortHelp:
        'the newest request first (seen, default), by name, or the most leases first (held)',
      columns: workerColumns,
      none: 'no worker has sent a request, and none holds a lease',
      soft: 'Capacities and last requests are known only',
    },
    io,
  ).addHelpText('after', HELP);
}
