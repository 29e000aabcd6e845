// Owns `workers`: who was heard of, and what each holds.

import type { Command } from 'commander';
import { workersFields } from '../model/list-fields.ts';
import type { Io } from './command.ts';
import { withList } from './list-command.ts';
import { workerColumns } from './overview-table.ts';

const HELP = `
  leases         how many leases the worker holds now
  capacity       how many it says that it can hold; -: it has not said
  last heard of  its last request; a worker that is silent for 15 minutes and holds
                 no lease is forgotten
  lease ends     when the first of its leases runs out, unless it sends a heartbeat
  Two processes may bear one name: the names are the workers' own.`;

export function define(command: Command, io: Io): void {
  withList(
    command,
    {
      op: 'workers',
      sorts: workersFields.sort.words ?? [],
      sortHelp: 'heard of last (default), by name, or with the most leases first',
      columns: workerColumns,
      none: 'no worker was heard of, and none holds a lease',
      soft: 'Capacities and signs of life are known only',
    },
    io,
  ).addHelpText('after', HELP);
}
