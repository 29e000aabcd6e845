// Owns `lease`: asks for tasks in a worker's name and prints what was granted.

import type { Command } from 'commander';
import { LEASES_MAX, WAIT_MAX_MS } from '../model/limits.ts';
import { CliError, collect, durationMs, EXIT, type Io, say, wholeNumber } from './command.ts';
import { Server, type ServerOptions, successOf, withServer } from './http.ts';
import { clockText, leaseText } from './words.ts';

interface Options extends ServerOptions {
  readonly worker: string;
  readonly queue?: string[];
  readonly wait: string;
  readonly max: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .requiredOption('--worker <id>', 'in whose name')
    .option('--queue <queue>', 'from this queue; may be repeated (default "default")', collect)
    .option('--wait <time>', 'wait so long for a task (20s, or milliseconds)', '0')
    .option('--max <n>', 'tasks at most', '1')
    .action(async (options: Options) => lease(options, io));
}

async function lease(options: Options, io: Io): Promise<void> {
  const server = new Server(options, io);
  const answer = await server.post('/v1/leases', {
    worker_id: options.worker,
    queues: options.queue ?? ['default'],
    wait_ms: durationMs('--wait', options.wait, 0, WAIT_MAX_MS),
    max: wholeNumber('--max', options.max, 1, LEASES_MAX),
  });
  server.close();
  const { leases, empty } = successOf(answer, options) as unknown as Leased;
  if (options.json === true) say(io.stdout, answer.text);
  else for (const each of leases) say(io.stdout, leaseText(each));
  if (leases.length > 0) return;
  throw new CliError(EXIT.empty, options.json === true ? '' : emptyText(empty));
}

interface Leased {
  readonly leases: readonly Readonly<Record<string, unknown>>[];
  readonly empty?: { readonly reason: string; readonly next_eligible_at?: number };
}

function emptyText(empty: Leased['empty']): string {
  const next = empty?.next_eligible_at;
  return `empty: ${empty?.reason}${next === undefined ? '' : `, the next at ${clockText(next)}`}`;
}
