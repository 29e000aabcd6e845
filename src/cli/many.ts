// Owns the parts that kill and redrive share. The tasks are named or found by a filter, and
// printed first when the user asks for that. Then they are sent in batches, in which the
// coordinator decides each task by itself.

import type { Command } from 'commander';
import { PAGE_MAX } from '../model/limits.ts';
import type { TaskStateName } from '../model/request.ts';
import { safeText } from '../model/safe-text.ts';
import { CliError, EXIT, type Io, say, upperOption, usage, wholeNumber } from './command.ts';
import { taskIdOf } from './id-arguments.ts';
import { isRefusal, refusalText, statusOfRefusal } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { pagesOf } from './task-pages.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ManyOptions extends ServerOptions {
  readonly state?: string;
  readonly queue?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly limit?: string;
  readonly dryRun?: true;
}

export interface Treatment {
  readonly op: 'kill' | 'redrive';
  /** The states that a filter without one looks for; tasks in other states are refused anyway. */
  readonly states: readonly TaskStateName[];
  /** Fields of each request besides the task's id. */
  fields(options: ManyOptions): Fields;
  /** Whether a task found by the filter can be meant at all. */
  matches(task: Fields): boolean;
  /** The line for people about one success. */
  text(answer: Fields, taskId: string): string;
}

const CHUNK = 500;

export const withMany = (command: Command, states: readonly TaskStateName[]): Command =>
  withServer(command)
    .argument('[task...]', 'the ids of the tasks; without any, all tasks that the filters find')
    .addOption(upperOption('--state <state>', 'filter: only tasks in this state', states))
    .option('--queue <queue>', 'filter: only tasks in this queue')
    .option('--reason <text>', 'filter: only tasks whose last failure reason contains this text')
    .option('--limit <n>', 'at most this many of the tasks that the filters find')
    .option('--dry-run', 'only show which tasks the filters find; change nothing');

export async function treat(
  ids: readonly string[],
  treatment: Treatment,
  options: ManyOptions,
  io: Io,
): Promise<void> {
  const { state, queue, reason, limit, dryRun } = options;
  const isFiltered = [state, queue, reason].some((given) => given !== undefined);
  if (ids.length > 0 && (isFiltered || limit !== undefined || dryRun === true)) {
    const note = treatment.op === 'kill' ? ' (what is recorded as the reason is --note)' : '';
    throw usage(`name tasks or give a filter, not both${note}`);
  }
  if (ids.length === 0 && !isFiltered) {
    throw usage('name a task, or filter by --state, --queue or --reason');
  }
  const server = new Server(options, io);
  try {
    const meant = ids.length > 0 ? ids.map(taskIdOf) : await find(server, treatment, options);
    if (meant.length === 0) say(io.stderr, 'no task matches the filter');
    if (dryRun === true) {
      for (const id of meant) say(io.stdout, options.json ? `{"task_id":"${id}"}` : id);
    } else await treatAll(server, meant, treatment, options, io);
  } finally {
    server.close();
  }
}

async function find(server: Server, treatment: Treatment, options: ManyOptions): Promise<string[]> {
  const max = Number.MAX_SAFE_INTEGER;
  const { limit: given } = options;
  const limit = given === undefined ? max : wholeNumber('--limit', given, 1, max);
  const found: string[] = [];
  for (const state of options.state === undefined ? treatment.states : [options.state]) {
    for await (const task of pagesOf(server, { ...options, state }, PAGE_MAX)) {
      if (found.length === limit) return found;
      if (!treatment.matches(task) || !failedBy(task, options)) continue;
      found.push(String(task['task_id']));
    }
  }
  return found;
}

const failedBy = (task: Fields, { reason }: ManyOptions): boolean =>
  reason === undefined || String(task['last_failure_reason'] ?? '').includes(reason);

async function treatAll(
  server: Server,
  ids: readonly string[],
  treatment: Treatment,
  options: ManyOptions,
  io: Io,
): Promise<void> {
  const refusals: Fields[] = [];
  for (let from = 0; from < ids.length; from += CHUNK) {
    const chunk = ids.slice(from, from + CHUNK);
    const fields = treatment.fields(options);
    const calls = chunk.map((id) => ({ op: treatment.op, params: { task_id: id, ...fields } }));
    const { bodies } = await server.batch(calls);
    bodies.forEach((body, i) => {
      const id = chunk[i] as string;
      const refused = isRefusal(body);
      if (refused) refusals.push(body);
      const to = refused ? io.stderr : io.stdout;
      if (options.json === true) say(to, JSON.stringify(body));
      else if (refused) say(to, `${id}: ${safeText(refusalText(body))}`);
      else say(to, treatment.text(body, id));
    });
  }
  const [first] = refusals;
  if (first === undefined) return;
  // Written wrongly, and by that for each of them: nothing was done.
  const isUsage = refusals.length === ids.length && statusOfRefusal(first) === EXIT.usage;
  throw new CliError(isUsage ? EXIT.usage : EXIT.failed, '');
}
