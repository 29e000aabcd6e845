// Owns the parts that heartbeat, complete and fail share: the task is found by its lease, the
// report is sent, and the answer is printed with the number of the record that the report caused.

import { type Io, say } from './command.ts';
import { leaseIdOf } from './id-arguments.ts';
import { taskOf } from './lease-task.ts';
import { successOf } from './refusals.ts';
import { type Asked, Server } from './server.ts';
import { type ServerOptions } from './server-options.ts';

type Fields = Readonly<Record<string, unknown>>;
export type Verb = 'heartbeat' | 'complete' | 'fail';

/**
 * @param text makes the line for people, from the answer and the task's id
 * @throws CliError when the answer is not a success
 */
export async function report(
  verb: Verb,
  lease: string,
  fields: Fields,
  options: ServerOptions,
  io: Io,
  text: (answer: Fields, taskId: string) => string,
): Promise<void> {
  const leaseId = leaseIdOf(lease);
  const server = new Server(options, io);
  try {
    const taskId = await taskOf(server, leaseId, options);
    const asked = await server.ask(verb, { task_id: taskId, lease_id: leaseId, ...fields });
    const body = successOf({ body: ownReport(asked, verb) }, options);
    say(io.stdout, options.json === true ? JSON.stringify(body) : text(body, taskId));
  } finally {
    server.close();
  }
}

/**
 * A report whose answer was lost is sent again, and the coordinator then refuses it as a duplicate
 * of itself. In that case the outcome of the first report is the answer.
 */
function ownReport({ body, resent }: Asked, verb: Verb): Fields {
  const { reason, first_report, first_outcome, first_record, task_state } = body;
  if (!resent || reason !== 'duplicate_report' || first_report !== verb) return body;
  if (first_outcome === 'COMMITTED') {
    return { outcome: first_outcome, task_state, record: first_record };
  }
  return { ...body, outcome: first_outcome };
}
