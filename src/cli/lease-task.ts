// Owns which task a lease belongs to, for commands that are given a lease by hand.

import type { Wire } from '../client/transport.ts';
import { parseLeaseId } from '../model/ids.ts';
import { CliError, EXIT, usage } from './command.ts';
import { taskIdOf } from './id-arguments.ts';
import { successOf } from './refusals.ts';
import type { Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';

/** The record with the lease's number is its grant, and names the task. */
export async function taskOf(
  server: Server,
  leaseId: string,
  options: ServerOptions,
): Promise<string> {
  const seq = Number(leaseId.slice(1));
  const body = successOf(await server.ask('log', { from: seq, limit: 1 }), options);
  const [record] = body['records'] as Wire[];
  if (record?.['type'] === 'LeaseGranted' && record['lease_id'] === leaseId) {
    return String(record['task_id']);
  }
  throw new CliError(EXIT.failed, `REJECTED unknown_lease: record ${seq} granted no lease.`);
}

/**
 * @returns the id of a task that was given by hand
 * @throws CliError with the usage status; of a lease it names the task, where the server knows it
 */
export async function askedTask(
  given: string,
  server: Server,
  options: ServerOptions,
): Promise<string> {
  if (parseLeaseId(given) === undefined) return taskIdOf(given);
  const task = await taskOf(server, given, options).catch(() => undefined);
  if (task === undefined) return taskIdOf(given);
  throw usage(`${given} is a lease of ${task}, and a task is asked for: give ${task}`);
}
