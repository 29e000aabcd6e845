// Owns walking through the tasks that match a filter, page by page. A page may be short or empty
// although more pages follow.

import { DURATION_MAX } from '../model/limits.ts';
import { patienceMs } from './command.ts';
import { successOf } from './refusals.ts';
import { type Server } from './server.ts';
import { type ServerOptions } from './server-options.ts';

type Task = Readonly<Record<string, unknown>>;

export interface Filter extends ServerOptions {
  readonly state?: string;
  readonly queue?: string;
  readonly requestId?: string;
  readonly after?: string;
  readonly newest?: true;
  readonly since?: string;
}

/**
 * Tasks without payloads, in ascending order unless the newest come first. @throws CliError when
 * the server refuses
 */
export async function* pagesOf(
  server: Server,
  filter: Filter,
  pageSize: number,
): AsyncGenerator<Task> {
  const { state, queue, requestId, after, newest, since } = filter;
  const asked: Record<string, unknown> = { limit: pageSize };
  if (state !== undefined) asked['state'] = state;
  if (queue !== undefined) asked['queue'] = queue;
  if (requestId !== undefined) asked['request_id'] = requestId;
  if (after !== undefined) asked['after'] = after;
  if (newest === true) asked['order'] = 'newest';
  if (since !== undefined) asked['max_age_ms'] = patienceMs('--since', since, 1, DURATION_MAX);
  for (;;) {
    const body = successOf(await server.ask('tasks', asked), filter);
    const { tasks, next } = body as { tasks: Task[]; next?: string | null };
    yield* tasks;
    if (next === null || next === undefined) return;
    asked['after'] = next;
  }
}
