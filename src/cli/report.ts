// Owns what heartbeat, complete and fail have in common: the task is found from the lease, the
// report is made once, and the answer is printed with the number of the record it caused.

import { CliError, EXIT, type Io, say } from './command.ts';
import { type Answer, Server, type ServerOptions, successOf } from './http.ts';
import { leaseIdOf } from './id-arguments.ts';

type Fields = Readonly<Record<string, unknown>>;
export type Verb = 'heartbeat' | 'complete' | 'fail';

/**
 * @param text makes the line for people from the answer and the task's id.
 * @throws CliError when the answer is no success
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
    const path = `/v1/leases/${leaseId}/${verb}`;
    const answer = await server.post(path, { task_id: taskId, ...fields });
    const body = successOf(answer, options);
    say(io.stdout, options.json === true ? answer.text : text(body, taskId));
  } finally {
    server.close();
  }
}

/** The record with the lease's number is its grant, and names the task. */
async function taskOf(server: Server, leaseId: string, options: ServerOptions): Promise<string> {
  const seq = leaseId.slice(1);
  const answer = await server.get(`/v1/log?from=${seq}&limit=1`);
  if (answer.status !== 200) successOf(answer, options);
  const record = firstRecord(answer);
  if (record?.['type'] === 'LeaseGranted' && record['lease_id'] === leaseId) {
    return String(record['task_id']);
  }
  throw new CliError(EXIT.failed, `REJECTED unknown_lease: record ${seq} granted no lease.`);
}

function firstRecord({ text }: Answer): Fields | undefined {
  const line = text.split('\n', 1)[0] ?? '';
  return line === '' ? undefined : (JSON.parse(line) as Fields);
}
