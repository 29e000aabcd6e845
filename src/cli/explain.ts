// Owns `explain`: prints the story of a task, or writes its timeline to a file.

import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { CliError, EXIT, type Io, say } from './command.ts';
import { type Answer, Server, type ServerOptions, successOf, withServer } from './http.ts';
import { taskIdOf } from './id-arguments.ts';
import { columnsOf } from './words.ts';

interface Options extends ServerOptions {
  readonly svg?: string;
  readonly dataDir?: string;
  readonly at?: string;
}

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<task>', 'the task, as submit printed it')
    .option('--svg <file>', 'write the timeline as an SVG image; - is the standard output')
    .option('--data-dir <dir>', 'read this data directory instead of asking a server')
    .option('--at <seq>', 'with --data-dir: as it was after this record')
    .action(async (task: string, options: Options) => {
      const taskId = taskIdOf(task);
      if (options.dataDir === undefined) return explain(taskId, options, io);
      const { explainOffline } = await import('./offline-explain.ts');
      return explainOffline(Number(taskId.slice(1)), options, io);
    });
}

async function explain(taskId: string, options: Options, io: Io): Promise<void> {
  const server = new Server(options, io);
  const accept = formOf(options);
  const answer = await answerOf(server, taskId, accept, columnsOf(io));
  server.close();
  if (answer.status !== 200) successOf(answer, options);
  if (options.svg === undefined || options.svg === '-') return say(io.stdout, answer.text);
  try {
    writeFileSync(options.svg, `${answer.text}\n`);
  } catch (error) {
    throw new CliError(EXIT.failed, `--svg: ${(error as Error).message}`);
  }
}

/** The log outlives its server: who finds none is told that the story can be read without. */
async function answerOf(
  server: Server,
  taskId: string,
  accept: string,
  columns: number,
): Promise<Answer> {
  try {
    return await server.get(`/v1/tasks/${taskId}/explain?columns=${columns}`, { accept });
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== EXIT.noServer) throw error;
    const hint = `without a server: leasehold explain ${taskId} --data-dir DIR`;
    throw new CliError(EXIT.noServer, `${error.message}; ${hint}`);
  }
}

function formOf({ svg, json }: Options): string {
  if (svg !== undefined) return 'image/svg+xml';
  return json === true ? 'application/json' : 'text/plain';
}
