// Owns `log`: shows records, a line each, and goes on with what becomes durable when asked to.

import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { PAGE_MAX } from '../model/limits.ts';
import { RECORD_TYPES } from '../model/records.ts';
import { painter } from './colors.ts';
import { CliError, EXIT, type Io, say, usage, wholeNumber } from './command.ts';
import { Server, type ServerOptions, successOf, withServer } from './http.ts';
import { taskIdOf } from './id-arguments.ts';
import { recordLine } from './record-line.ts';

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

export function define(command: Command, io: Io): void {
  withServer(command)
    .option('--follow', 'go on with what becomes durable')
    .option('--task <task>', 'only records of this task')
    .option('--queue <queue>', 'only records of tasks in this queue')
    .addOption(new Option('--type <type>', 'only this type').choices([...RECORD_TYPES]))
    .option('--tail <n>', `the last so many (default ${TAIL_DEFAULT})`)
    .option('--from <seq>', 'from this record on, instead of the last ones')
    .option('--limit <n>', 'with --from: so many at most (default 100)')
    .option('--data-dir <dir>', 'read this data directory instead of asking a server')
    .action((options: Options) => log(options, io));
}

async function log(options: Options, io: Io): Promise<void> {
  const filter = filterOf(options);
  const paint = painter(io);
  const show = (line: string): void =>
    say(io.stdout, options.json ? line : recordLine(parse(line), paint));
  if (options.dataDir !== undefined) {
    if (options.follow === true)
      throw usage('--follow asks a server; --data-dir reads a directory');
    const { logOffline } = await import('./offline-log.ts');
    return logOffline(new Map([...filter, ...rangeOf(options)]), options, io, show);
  }
  const server = new Server(options, io);
  try {
    const query = new URLSearchParams([...filter, ...rangeOf(options)]);
    const answer = await server.get(`/v1/log?${query}`);
    if (answer.status !== 200) successOf(answer, options);
    const lines = answer.text.split('\n').filter((line) => line !== '');
    for (const line of lines) show(line);
    if (options.follow !== true) return;
    const last = lines.at(-1);
    const from =
      last === undefined ? (options.from ?? '1') : String(Number(parse(last)['seq']) + 1);
    await follow(server, filter, from, show);
  } finally {
    server.close();
  }
}

/** @throws CliError when the server ends it, with the number from which to go on. */
async function follow(
  server: Server,
  filter: readonly [string, string][],
  from: string,
  show: (line: string) => void,
): Promise<void> {
  const query = new URLSearchParams([...filter, ['from', from], ['follow', 'true']]);
  const broken = (next: string): CliError =>
    new CliError(EXIT.noServer, `the connection broke; go on with --from ${next}`);
  const stream = await server.stream(`/v1/log?${query}`).catch((error: unknown) => {
    // The records before these were shown: a server that is gone by now broke off a following.
    throw error instanceof CliError && error.status === EXIT.noServer ? broken(from) : error;
  });
  let next = from;
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      if (line === '') continue;
      show(line);
      next = String(Number(parse(line)['seq']) + 1);
    }
  } catch (error) {
    if (!stream.errored) throw error;
  }
  throw broken(next);
}

function filterOf({ task, queue, type }: Options): [string, string][] {
  const filter: [string, string][] = [];
  if (task !== undefined) filter.push(['task', taskIdOf(task)]);
  if (queue !== undefined) filter.push(['queue', queue]);
  if (type !== undefined) filter.push(['type', type]);
  return filter;
}

function rangeOf({ from, limit, tail }: Options): [string, string][] {
  if (from === undefined) {
    if (limit !== undefined) throw usage('--limit goes with --from; the last ones are --tail');
    const count = tail === undefined ? TAIL_DEFAULT : wholeNumber('--tail', tail, 1, PAGE_MAX);
    return [['tail', String(count)]];
  }
  if (tail !== undefined) throw usage('give --from or --tail, not both');
  const range: [string, string][] = [
    ['from', String(wholeNumber('--from', from, 0, Number.MAX_SAFE_INTEGER))],
  ];
  if (limit !== undefined)
    range.push(['limit', String(wholeNumber('--limit', limit, 1, PAGE_MAX))]);
  return range;
}

const parse = (line: string): Fields => JSON.parse(line) as Fields;
