// Owns `log`: prints records, one a line. On request it goes on with records as they become
// durable.

import { type Command, Option } from 'commander';
import { PAGE_DEFAULT, PAGE_MAX } from '../model/limits.ts';
import { recordLine } from '../model/record-line.ts';
import { RECORD_TYPES } from '../model/records.ts';
import { painter } from './colors.ts';
import { type Io, say, usage, wholeNumber } from './command.ts';
import { follow } from './follow.ts';
import { taskIdOf } from './id-arguments.ts';
import { successOf } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { Days, noneText } from './words.ts';

interface Options extends ServerOptions {
  readonly follow?: true;
  readonly task?: string;
  readonly queue?: string;
  readonly type?: string;
  readonly from?: string;
  readonly limit?: string;
  readonly tail?: string;
  readonly dataDir?: string;
}
type Fields = Readonly<Record<string, unknown>>;

const TAIL_DEFAULT = 20;

const HELP = `
A record is a line: its number, the time of day (UTC), its type, and what it says. A line with a
date alone stands before the first record, and before each record of another day. In a pipe or a
file it stands only where the day changes. Programs read --json: one object a record, no dates.`;

export function define(command: Command, io: Io): void {
  withServer(command)
    .option(
      '--follow',
      'go on to print new records when they are durable, also after a restart of the server',
    )
    .option('--task <task>', 'only records of this task')
    .option('--queue <queue>', 'only records of tasks in this queue')
    .addOption(new Option('--type <type>', 'only records of this type').choices([...RECORD_TYPES]))
    .option('--tail <n>', `only this many of the newest records (default ${TAIL_DEFAULT})`)
    .option('--from <record>', 'start at this record, instead of the newest ones')
    .option('--limit <n>', 'with --from: at most this many records (default 100)')
    .option('--data-dir <dir>', 'read this data directory instead of asking a server')
    .addHelpText('after', HELP)
    .action((options: Options) => log(options, io));
}

async function log(options: Options, io: Io): Promise<void> {
  const asked = { ...filterOf(options), ...rangeOf(options) };
  const show = options.json === true ? jsonTo(io) : linesTo(io);
  if (options.dataDir !== undefined) {
    if (options.follow === true)
      throw usage('--follow asks a server; --data-dir reads a directory');
    const { logOffline } = await import('./offline-log.ts');
    return logOffline(asked, options, io, show);
  }
  const server = new Server(options, io);
  try {
    const first = await page(server, asked, options);
    for (const record of first) show(record);
    // No record is about a task that nobody knows, nor about one that has none in this range.
    if (first.length === 0 && options.task !== undefined) {
      successOf(await server.ask('task', { task_id: options.task }), options);
    }
    if (options.follow !== true) {
      if (first.length === 0) await tellNewest(server, options, io);
      return;
    }
    const last = first.at(-1);
    const from = last === undefined ? Number(options.from ?? 1) : Number(last['seq']) + 1;
    await follow(server, { ...filterOf(options), from }, options, show);
  } finally {
    server.close();
  }
}

const jsonTo =
  ({ stdout }: Io) =>
  (record: Fields): void =>
    say(stdout, JSON.stringify(record));

/** A line tells the time of day; whenever the day is another one, a line of its own tells it. */
function linesTo(io: Io): (record: Fields) => void {
  const paint = painter(io);
  const days = new Days(io.stdout.isTTY);
  return (record) => {
    const day = days.before(record);
    if (day !== undefined) say(io.stdout, `${day} UTC`);
    say(io.stdout, recordLine(record, paint));
  };
}

/** Nothing printed must not look like a log that is empty. */
async function tellNewest(server: Server, options: Options, { stderr }: Io): Promise<void> {
  const [newest] = await page(server, { tail: 1 }, options);
  if (newest !== undefined) say(stderr, noneText(Number(newest['seq'])));
}

/** All that was asked for: on the socket an answer holds what fits, and says where to go on. */
async function page(server: Server, asked: Fields, options: Options): Promise<Fields[]> {
  const found: Fields[] = [];
  for (let query = asked; ; ) {
    const body = successOf(await server.ask('log', query), options);
    found.push(...(body['records'] as Fields[]));
    const { next, more } = body;
    const { tail, ...rest } = query;
    const left = Number(asked['limit'] ?? tail ?? PAGE_DEFAULT) - found.length;
    if (more !== true || left <= 0) return found;
    query = { ...rest, from: next, limit: left };
  }
}

function filterOf({ task, queue, type }: Options): Fields {
  return {
    ...(task === undefined ? {} : { task: taskIdOf(task) }),
    ...(queue === undefined ? {} : { queue }),
    ...(type === undefined ? {} : { type }),
  };
}

function rangeOf({ from, limit, tail }: Options): Fields {
  if (from === undefined) {
    if (limit !== undefined) throw usage('--limit goes with --from; the last ones are --tail');
    return { tail: tail === undefined ? TAIL_DEFAULT : wholeNumber('--tail', tail, 1, PAGE_MAX) };
  }
  if (tail !== undefined) throw usage('give --from or --tail, not both');
  const first = wholeNumber('--from', from, 0, Number.MAX_SAFE_INTEGER);
  if (limit === undefined) return { from: first };
  return { from: first, limit: wholeNumber('--limit', limit, 1, PAGE_MAX) };
}
