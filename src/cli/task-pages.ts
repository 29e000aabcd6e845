// Owns walking through the tasks that match a filter, page by page: a page may be short, or empty,
// and still not be the last one.

import { type Server, type ServerOptions, successOf } from './http.ts';

type Task = Readonly<Record<string, unknown>>;

export interface Filter extends ServerOptions {
  readonly state?: string;
  readonly queue?: string;
  readonly requestId?: string;
  readonly after?: string;
}

/** Tasks in ascending order, without payloads. @throws CliError when the server refuses */
export async function* pagesOf(
  server: Server,
  filter: Filter,
  pageSize: number,
): AsyncGenerator<Task> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (filter.state !== undefined) query.set('state', filter.state);
  if (filter.queue !== undefined) query.set('queue', filter.queue);
  if (filter.requestId !== undefined) query.set('request_id', filter.requestId);
  if (filter.after !== undefined) query.set('after', filter.after);
  for (;;) {
    const answer = await server.get(`/v1/tasks?${query}`);
    const { tasks, next } = successOf(answer, filter) as { tasks: Task[]; next: string | null };
    yield* tasks;
    if (next === null || next === undefined) return;
    query.set('after', next);
  }
}
