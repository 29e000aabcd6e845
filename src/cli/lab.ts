// Owns `lab`: a coordinator to play with. Its directory is removed when it ends, its leases are
// short enough to wait for, and its log is printed while it grows.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { openTransport } from '../client/exchanger.ts';
import { errnoText } from '../model/errno-text.ts';
import { recordLine } from '../model/record-line.ts';
import { removeAtExit, ServerProcess, tryPort } from '../play/demo/processes.ts';
import { CliError, EXIT, type Io, say, wholeNumber } from './command.ts';

interface Options {
  readonly port: string;
  readonly cluster?: boolean;
}

/** @param name how the command is called here: in a clone only npx finds it. */
const introduction = (url: string, port: number, name: string): string => `
A coordinator is at ${url}. Leases last 5 s, there is no backoff. Its log is below.
In another terminal:

  export LEASEHOLD_URL=${url}
  echo hello | ${name} submit
  ${name} lease --worker w1             # prints the lease, L3 for example
  ${name} heartbeat L3                  # or wait, and lease as w2
  ${name} complete L3
  ${name} explain T2

or with curl:

  curl -s localhost:${port}/v1/tasks -d '{"payload":"hello"}'

Ctrl-C ends it; nothing is kept.
`;

export function define(command: Command, io: Io): void {
  command
    .option('--port <port>', 'the port that HTTP listens on', '5327')
    .option('--cluster', 'run two nodes over three members of etcd; says which processes to kill')
    .action((options: Options) => lab(options, io));
}

async function lab(options: Options, io: Io): Promise<void> {
  const port = wholeNumber('--port', options.port, 1, 65_535);
  // Or a coordinator that runs there already would pass for this one, which cannot start.
  await tryPort(port).catch((error: unknown) => {
    const why = `cannot listen at 127.0.0.1:${port}: ${errnoText(error)}`;
    throw new CliError(EXIT.failed, `${why}; name another port with --port`);
  });
  const name = io.env['npm_command'] === undefined ? 'leasehold' : 'npx leasehold';
  if (options.cluster === true) {
    const { labCluster } = await import('./lab-cluster.ts');
    return labCluster(port, name, io);
  }
  const dir = await mkdtemp(path.join(os.tmpdir(), 'leasehold-lab-'));
  removeAtExit(dir);
  const args = ['--lease-duration-ms', '5000', '--backoff-ms', '0'];
  const server = new ServerProcess({ dataDir: path.join(dir, 'data'), port, args });
  const stop = (): void => server.kill('SIGTERM');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  try {
    await server.ready().catch((error: Error) => {
      throw new CliError(EXIT.failed, `leasehold: ${error.message}`);
    });
    say(io.stdout, introduction(server.url, port, name));
    await print(server, io);
    await server.ended;
  } finally {
    await server.destroy();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Prints records until the server is gone. */
async function print({ url, ended }: ServerProcess, { stdout }: Io): Promise<void> {
  const over = new AbortController();
  void ended.then(() => over.abort());
  try {
    const records = openTransport(url, undefined).follow({ from: 1 }, over.signal);
    for await (const record of records) say(stdout, recordLine(record));
  } catch {
    // The connection goes with the server, and nothing is kept: there is nothing to go on with.
  }
}
