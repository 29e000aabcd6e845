// Owns `heartbeat`: keeps a lease by hand, once.

import type { Command } from 'commander';
import type { Io } from './command.ts';
import { report } from './report.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { clockText, durationText, recordText } from './words.ts';

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<lease>', 'the id of the lease, such as L3')
    .action((lease: string, options: ServerOptions) =>
      report('heartbeat', lease, {}, options, io, (answer, taskId) => {
        const { lease_expiry, lease_ms } = answer;
        const left = `until ${clockText(lease_expiry)} (${durationText(lease_ms)})`;
        const cap = answer['at_cap'] === true ? ', at the end of its execution window' : '';
        return `OK ${lease} ${taskId} ${left}${cap}, ${recordText(answer)}`;
      }),
    );
}
