// Owns `stats`: counts at one moment, or again and again.

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Io, say } from './command.ts';
import { successOf } from './refusals.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { dateText } from './words.ts';

interface Options extends ServerOptions {
  readonly watch?: true;
}
type Fields = Readonly<Record<string, unknown>>;

const WATCH_MS = 1_000;
const CLEAR = '\u001b[H\u001b[2J';

export function define(command: Command, io: Io): void {
  withServer(command)
    .option(
      '--watch',
      'print the counts every second until interrupted, also after a restart of the server',
    )
    .action((options: Options) => stats(options, io));
}

async function stats(options: Options, io: Io): Promise<void> {
  const server = new Server(options, io);
  const isWatched = options.watch === true;
  const isScreen = isWatched && io.stdout.isTTY;
  let epoch: unknown;
  let restarted = '';
  try {
    for (;;) {
      const body = successOf(await server.ask('stats', {}), options);
      server.tellRecovery('it answers again');
      if (epoch !== undefined && body['epoch'] !== epoch) {
        restarted = `the server was started again (record ${body['epoch']})`;
        // A page that is made anew would take the line away: there it stands under the page.
        if (!isScreen) say(io.stderr, `leasehold: ${server.url}: ${restarted}`);
      }
      epoch = body['epoch'];
      if (isScreen) io.stdout.write(CLEAR);
      say(io.stdout, options.json === true ? JSON.stringify(body) : await table(body));
      if (isScreen && restarted !== '') say(io.stdout, restarted);
      if (!isWatched) return;
      await pause(WATCH_MS);
    }
  } finally {
    server.close();
  }
}

async function table(body: Fields): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const out = new Table({ style: { head: [], border: [], compact: true } });
  for (const [name, value] of Object.entries(body)) out.push(...rowsOf(name, value));
  return out.toString();
}

function rowsOf(name: string, value: unknown): [string, string][] {
  if (name === 'now') return [[name, `${dateText(value)} UTC`]];
  if (typeof value !== 'object' || value === null) return [[words(name), shown(value)]];
  return Object.entries(value).map(([key, each]) => [`${words(name)} ${key}`, shown(each)]);
}

const shown = (value: unknown): string =>
  typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : String(value);
const words = (name: string): string => name.replaceAll('_', ' ');
