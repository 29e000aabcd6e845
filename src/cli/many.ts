// Owns what kill and redrive have in common: the tasks are named or found by a filter, shown first
// when asked for, and then treated in batches, each by itself.

import { type Command, Option } from 'commander';
import { PAGE_MAX } from '../model/limits.ts';
import type { TaskStateName } from '../model/request.ts';
import { CliError, EXIT, type Io, say, usage, wholeNumber } from './command.ts';
import { refusalText, Server, type ServerOptions, successOf, withServer } from './http.ts';
import { taskIdOf } from './id-arguments.ts';
import { pagesOf } from './task-pages.ts';
import { safeText } from './words.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ManyOptions extends ServerOptions {
  readonly state?: string;
  readonly queue?: string;
  readonly reason?: string;
  readonly limit?: string;
  readonly dryRun?: true;
}

export interface Treatment {
  readonly op: 'kill' | 'redrive';
  /** The states that a filter without one looks for; tasks in other states are refused anyway. */
  readonly states: readonly TaskStateName[];
  /** Fields of each request besides the task's id. */
  fields(options: ManyOptions): Fields;
  /** Whether a task found by state and queue is meant. */
  matches(task: Fields, options: ManyOptions): boolean;
  /** The line for people about one success. */
  text(answer: Fields, taskId: string): string;
}

const CHUNK = 500;

export const withMany = (command: Command, states: readonly TaskStateName[]): Command =>
  withServer(command)
    .argument('[task...]', 'the tasks; none: those that the filter finds')
    .addOption(new Option('--state <state>', 'filter: in this state').choices([...states]))
    .option('--queue <queue>', 'filter: in this queue')
    .option('--limit <n>', 'filter: tasks at most')
    .option('--dry-run', 'filter: only show which tasks are meant');

export async function treat(
  ids: readonly string[],
  treatment: Treatment,
  options: ManyOptions,
  io: Io,
): Promise<void> {
  const filtered = options.state !== undefined || options.queue !== undefined;
  if (ids.length > 0 && (filtered || options.limit !== undefined || options.dryRun === true)) {
    throw usage('name tasks or give a filter, not both');
  }
  if (ids.length === 0 && !filtered) throw usage('name a task, or filter by --state or --queue');
  const server = new Server(options, io);
  try {
    const meant = ids.length > 0 ? ids.map(taskIdOf) : await find(server, treatment, options);
    if (options.dryRun === true) {
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
      if (treatment.matches(task, options)) found.push(String(task['task_id']));
    }
  }
  return found;
}

async function treatAll(
  server: Server,
  ids: readonly string[],
  treatment: Treatment,
  options: ManyOptions,
  io: Io,
): Promise<void> {
  let refused = 0;
  for (let from = 0; from < ids.length; from += CHUNK) {
    const chunk = ids.slice(from, from + CHUNK);
    const fields = treatment.fields(options);
    const requests = chunk.map((id) => ({ op: treatment.op, task_id: id, ...fields }));
    const answer = await server.post('/v1/batch', { requests });
    const { answers } = successOf(answer, options) as unknown as { answers: Fields[] };
    answers.forEach((body, i) => {
      const id = chunk[i] as string;
      const status = Number(body['http_status']);
      const text = JSON.stringify(body);
      if (status >= 300) refused += 1;
      const to = status >= 300 ? io.stderr : io.stdout;
      if (options.json === true) say(to, text);
      else if (status < 300) say(to, treatment.text(body, id));
      else say(to, `${id}: ${safeText(refusalText({ status, text, body }))}`);
    });
  }
  if (refused > 0) throw new CliError(EXIT.failed, '');
}
