// Owns `fail`: reports a lease's failure by hand.

import { type Command, Option } from 'commander';
import type { Io } from './command.ts';
import { report } from './report.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { dateText, recordText } from './words.ts';

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<lease>', 'the id of the lease, such as L3')
    .argument('<reason>', 'why the task failed, as text for people')
    .addOption(
      new Option(
        '--kind <kind>',
        'error: try again as the retry policy says; permanent: do not try again; ' +
          'released: give the task back, which is not charged',
      )
        .choices(['error', 'permanent', 'released'])
        .default('error'),
    )
    .action((lease: string, reason: string, options: ServerOptions & { kind: string }) =>
      report('fail', lease, { reason, kind: options.kind }, options, io, (answer, taskId) => {
        const { outcome, task_state, retry_at } = answer;
        const again = retry_at === undefined ? '' : `, again at ${dateText(retry_at)}`;
        return `${outcome} ${taskId} ${task_state}${again}, ${recordText(answer)}`;
      }),
    );
}
