// Owns `top`: queues and workers on one screen, made anew in place, with keys. Where there is no
// terminal it prints the page once.

import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { type Io, patienceMs, say } from './command.ts';
import { Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { Questions } from './top/questions.ts';
import { screen } from './top/screen.ts';
import { Session, shownOf } from './top/session.ts';
import { FIRST_VIEW } from './top/view.ts';
import { columnsOf } from './words.ts';

interface Options extends ServerOptions {
  readonly interval: string;
}

const HELP = `
  s              sort the queues in another order
  w              sort the workers in another order
  up, down       choose a row (also k and j)
  Enter          the tasks of that queue or worker; on a task: why it is in its state
  t              explain a task by its number
  Esc            back (also left and h)
  q              quit
  After a restart of the server, top goes on and says so.`;

export function define(command: Command, io: Io): void {
  withServer(command)
    .option('--interval <time>', 'how often the screen is refreshed', '2s')
    .addHelpText('after', HELP)
    .action((options: Options) => top(options, io));
}

async function top(options: Options, io: Io): Promise<void> {
  const intervalMs = patienceMs('--interval', options.interval, 100, 3_600_000);
  // What is told of a lost connection stands on the page, and must not be written over it.
  const isScreen = io.stdout.isTTY && options.json !== true;
  const server = new Server(options, isScreen ? silenced(io) : io);
  const questions = new Questions(server, options);
  try {
    const first = await questions.overview(FIRST_VIEW);
    if (options.json === true) say(io.stdout, JSON.stringify(first));
    else if (isScreen) await new Session(server, questions, first, intervalMs, io).run();
    else {
      const size = { columns: columnsOf(io), rows: 24 };
      const page = screen(shownOf(first, server.url), FIRST_VIEW, size);
      // The last line names the keys, of which there are none here.
      for (const line of page.slice(0, -1)) say(io.stdout, line);
    }
  } finally {
    server.close();
  }
}

function silenced({ stdin, stdout, env }: Io): Io {
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { stdin, stdout, env, stderr: stderr as unknown as NodeJS.WriteStream };
}
