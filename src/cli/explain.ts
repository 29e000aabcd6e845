// Owns `explain`: prints the story of a task, or writes its timeline to a file.

import type { Command } from 'commander';
import type { Wire } from '../client/transport.ts';
import { CliError, EXIT, type Io, say, usage, wholeNumber } from './command.ts';
import { taskIdOf } from './id-arguments.ts';
import { askedTask } from './lease-task.ts';
import { successOf } from './refusals.ts';
import { type Asked, Server } from './server.ts';
import { type ServerOptions, withServer } from './server-options.ts';
import { writeSvg } from './svg-file.ts';
import { columnsOf } from './words.ts';

interface Options extends ServerOptions {
  readonly svg?: string;
  readonly dataDir?: string;
  readonly at?: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<task>', 'the id of the task, such as T2')
    .option('--svg <file>', 'write the timeline as an SVG image; - is the standard output')
    .option('--data-dir <dir>', 'read this data directory instead of asking a server')
    .option('--at <record>', 'tell the story as it was after this record')
    .action(async (task: string, options: Options) => {
      assertOneOutput(options);
      if (options.dataDir === undefined) return explain(task, options, io);
      const taskId = taskIdOf(task);
      const { explainOffline } = await import('./offline-explain.ts');
      return explainOffline(Number(taskId.slice(1)), options, io);
    });
}

/** The image and the JSON cannot both go to the standard output. */
function assertOneOutput({ svg, json }: Options): void {
  if (svg === '-' && json === true) {
    throw usage('--json and --svg - both write to the standard output; give --svg a file');
  }
}

async function explain(task: string, options: Options, io: Io): Promise<void> {
  const { svg, json, at } = options;
  const until = at === undefined ? {} : { at: wholeNumber('--at', at, 1, Number.MAX_SAFE_INTEGER) };
  const columns = columnsOf(io);
  const server = new Server(options, io);
  try {
    const asked = { task_id: await askedTask(task, server, options), ...until };
    const get = async (more: object): Promise<Wire> =>
      successOf(await answerOf(server, { ...asked, ...more }), options);
    if (svg !== undefined) writeSvg(svg, String((await get({ format: 'svg' }))['text']), io);
    if (json === true) say(io.stdout, JSON.stringify(await get({})));
    else if (svg === undefined)
      say(io.stdout, String((await get({ format: 'text', columns }))['text']));
  } finally {
    server.close();
  }
}

/** The log outlives its server: who finds none is told that the story can be read without. */
async function answerOf(server: Server, asked: Wire): Promise<Asked> {
  try {
    return await server.ask('explain', asked);
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== EXIT.noServer) throw error;
    const hint = `without a server: leasehold explain ${asked['task_id']} --data-dir DIR`;
    throw new CliError(EXIT.noServer, `${error.message}; ${hint}`);
  }
}
