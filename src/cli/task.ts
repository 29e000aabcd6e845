// Owns `task`: shows one task as it is now.

import type { Command } from 'commander';
import { type Io, say } from './command.ts';
import { Server, type ServerOptions, successOf, withServer } from './http.ts';
import { taskIdOf } from './id-arguments.ts';
import { taskText } from './task-text.ts';

export function define(command: Command, io: Io): void {
  withServer(command)
    .argument('<task>', 'the task, as submit printed it')
    .action(async (task: string, options: ServerOptions) => {
      const server = new Server(options, io);
      const answer = await server.get(`/v1/tasks/${taskIdOf(task)}`);
      server.close();
      const body = successOf(answer, options);
      say(io.stdout, options.json === true ? answer.text : taskText(body));
    });
}
