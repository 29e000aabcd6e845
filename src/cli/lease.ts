// Owns `lease`: asks for tasks in a worker's name and prints what was granted.

import type { Command } from 'commander';
import { wall } from '../../actors/shared/clock.ts';
import { LEASES_MAX, WAIT_MAX_MS } from '../model/limits.ts';
import { timeText } from '../model/time-text.ts';
import { CliError, collect, durationMs, EXIT, type Io, say, wholeNumber } from './command.ts';
import { successOf } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { leaseText } from './words.ts';

/** A shorter wait is over before its announcement is read. */
const SHORT_MS = 1_000;

interface Options extends ServerOptions {
  readonly worker: string;
  readonly queue?: string[];
  readonly wait: string;
  readonly max: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .requiredOption('--worker <id>', 'the name of the worker that asks')
    .option('--queue <queue>', 'from this queue; may be repeated (default "default")', collect)
    .option('--wait <time>', 'how long to wait for a task (20s, or milliseconds)', '0')
    .option('--max <n>', 'ask for at most this many tasks', '1')
    .action(async (options: Options) => lease(options, io));
}

async function lease(options: Options, io: Io): Promise<void> {
  const waitMs = durationMs('--wait', options.wait, 0, WAIT_MAX_MS);
  const params = {
    worker_id: options.worker,
    queues: options.queue ?? ['default'],
    max: wholeNumber('--max', options.max, 1, LEASES_MAX),
  };
  const server = new Server(options, io);
  if (waitMs > SHORT_MS) server.tellWait(`waiting for a task of ${params.queues.join(', ')}`);
  try {
    const body = successOf(await server.lease(params, waitMs), options);
    show(body as unknown as Leased, options, io);
  } finally {
    server.close();
  }
}

function show(body: Leased, options: Options, io: Io): void {
  const { leases, empty } = body;
  if (options.json === true) say(io.stdout, JSON.stringify(body));
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
  const when = next === undefined ? '' : `, the next at ${timeText(next, wall())}`;
  return `empty: ${empty?.reason}${when}`;
}
