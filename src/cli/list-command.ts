// Owns the parts that `queues` and `workers` share: the options, the pages, and what is said under
// the table.

import { type Command, Option } from 'commander';
import { type Io, say, wholeNumber } from './command.ts';
import { type ListOptions, listPages } from './list-pages.ts';
import type { Fields } from './overview-table.ts';
import { Server } from './server.ts';
import { withServer } from './server-options.ts';
import { type Column, fittedTable } from './table.ts';
import { dateText, moreText, tableColumnsOf } from './words.ts';

export interface ListedKind {
  readonly op: 'queues' | 'workers';
  readonly sorts: readonly string[];
  readonly sortHelp: string;
  columns(now: number): readonly Column<Fields>[];
  /** What is said when there is no row. */
  readonly none: string;
  /** What is known since the last start only. */
  readonly soft: string;
}

export function withList(command: Command, kind: ListedKind, io: Io): Command {
  const { op, sorts, sortHelp } = kind;
  return withServer(command)
    .addOption(new Option('--sort <order>', sortHelp).choices([...sorts]))
    .option('--match <text>', `only ${op} whose name contains this text`)
    .option('--limit <n>', `at most this many ${op}`, '100')
    .action((options: ListOptions) => list(kind, options, io));
}

async function list(kind: ListedKind, options: ListOptions, io: Io): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, Number.MAX_SAFE_INTEGER);
  const server = new Server(options, io);
  const rows: Fields[] = [];
  let last: Fields = {};
  try {
    for await (const body of listPages(server, kind.op, options, limit)) {
      if (options.json === true) say(io.stdout, JSON.stringify(body));
      rows.push(...(body[kind.op] as Fields[]));
      last = body;
    }
  } finally {
    server.close();
  }
  if (options.json === true) return;
  const none = options.match === undefined ? kind.none : `no ${kind.op} match`;
  const { lines, isCut } = fittedTable(kind.columns(Number(last['now'])), rows, tableColumnsOf(io));
  for (const line of [...lines, ...under({ ...kind, none }, rows, last)]) say(io.stdout, line);
  if (isCut) say(io.stderr, 'What … stands for: --json, or a wider terminal.');
}

/** What stands under the table. */
function under({ op, none, soft }: ListedKind, rows: Fields[], last: Fields): string[] {
  const { more, since } = last as { more: number; since: number };
  const lines = rows.length === 0 ? [none] : [];
  if (more > 0) lines.push(`${moreText(more, op)}: --limit, --match and --sort choose others`);
  if (rows.length > 0) lines.push(`${soft} since ${dateText(since)} UTC.`);
  return lines;
}
