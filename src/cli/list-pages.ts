// Owns reading the list of queues or workers page by page, up to as many rows as are wanted.

import { PAGE_MAX } from '../model/limits.ts';
import type { Fields } from './overview-table.ts';
import { successOf } from './refusals.ts';
import type { Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';

export interface ListOptions extends ServerOptions {
  readonly sort?: string;
  readonly match?: string;
  readonly limit: string;
}

/** The bodies of the answers, in order. @throws CliError when the server refuses */
export async function* listPages(
  server: Server,
  op: 'queues' | 'workers',
  { sort, match, ...options }: ListOptions,
  limit: number,
): AsyncGenerator<Fields> {
  const asked: Record<string, unknown> = {};
  if (sort !== undefined) asked['sort'] = sort;
  if (match !== undefined) asked['match'] = match;
  for (let left = limit; left > 0; ) {
    const query = { ...asked, limit: Math.min(left, PAGE_MAX) };
    const body = successOf(await server.ask(op, query), options) as Fields;
    yield body;
    left -= (body[op] as unknown[]).length;
    if (typeof body['next'] !== 'string') return;
    asked['after'] = body['next'];
  }
}
